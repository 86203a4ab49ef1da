# make test   everything that CI runs; as root on Debian it installs what it needs
# make bench  the tables of measured figures
# make build  the command, into build/
# make bridge the bridge to Apple's framework, into build/bridge/; on Linux over stand-ins
# make lint   golangci-lint, which takes minutes to build
# make windows  everything, built for Windows
# make soak   hostile clients against the broker, and faults around it, for SOAK=10m
# make races  the packages with threads nine times with the race detector, at 1, 2 and 8 processors; takes an hour
# make mutate PKG=./ane/mil/ops  which changes of a package its tests do not notice; takes hours

# Tests leave more out without it, so that a plain go test ./... takes a minute.
export ANEKIT_MAKE = 1

GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
GOLANGCI = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GREMLINS = github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
# The targets that are built without cgo; this machine's is, with cgo.
TARGETS = linux/arm64 $(MAC)
MAC = darwin/arm64
FUZZTIME ?= 500ms
HOSTILE ?= 45s
SOAK ?= 10m
# What ran and what was skipped, for the last line of make test.
NOTES = build/notes
TESTRUN = build/bin/testrun -notes $(NOTES)
# A test that hangs ends by its own limits. Those of go test, ten minutes for a package, are too few under an emulator.
# The step vet runs more of go vet than go test does.
GOTEST = $(GO) test -vet=off -timeout 45m
# The packages whose tests wait for threads or processes.
WAITING = ./internal/engine/broker/... ./internal/engine/apple ./internal/engine/standin/... ./objcbridge \
	./cmd/ane-roundtrip ./unimem/... ./internal/await ./internal/wholefile

# Other processors run the arm64 tests in an emulator.
ifeq ($(shell uname -s),Linux)
ifeq ($(filter aarch64 arm64,$(shell uname -m)),)
EMULATOR = qemu-aarch64-static
endif
endif

# The packages with code of their own for arm64 or arithmetic with fractions, which compilers fuse on some processors; and
# those of memory that processes share and of what computes with the former, which the emulator gives as little work as a
# plain go test. The others are built for arm64. Of the command some scripts run.
KERNELS = ./internal/engine/soft/... ./ane/fp16/... ./ane/numerics ./unimem/internal/kernels
EMULATED = ./models/... ./ane ./ane/mil/blob ./ane/mil/ops ./ane/wasm ./ane/weights \
	./cmd/ane-roundtrip/internal/picture ./internal/engine/broker/slots ./internal/engine/broker/wire/... \
	./unimem/...
# The packages in which goroutines share memory.
RACING = ./internal/engine/broker/... ./internal/engine/soft ./internal/hostile ./ane ./ane/engine ./unimem/...

.PHONY: build bridge test row1 row2 fresh testrun needs format vet static vuln race plain busy hostile nocgo arm64 fuzz \
	bench soak races lint windows mutate clean

build:
	CGO_ENABLED=0 $(GO) build -ldflags='-s -w' -o build/ ./cmd/ane-roundtrip

# Installs what it needs when root on Debian, else names it. On a Mac it needs Apple's
# Command Line Tools; a Mac without them can use the library that another built. The command beside the
# libraries is one that can load them; on Linux a static one cannot.
bridge:
	@sh objcbridge/build.sh build/bridge
	@CGO_ENABLED=1 $(GO) build -o build/bridge/ ./cmd/ane-roundtrip

# Many tests wait, so two rows of steps run side by side.
test: fresh needs format bridge testrun
	@$(MAKE) --no-print-directory -j2 row1 row2
	@echo "make test: all passed; $$($(TESTRUN) -report)"

ROW = MAKEFLAGS= HOSTILE="$(HOSTILE)" $(MAKE) --no-print-directory GO="$(GO)" FUZZTIME="$(FUZZTIME)" TARGETS="$(TARGETS)"
row1:
	@$(ROW) race plain busy
# The steps that keep one core busy come first, since row1 has the other then; one worker fuzzes.
row2:
	@$(ROW) FUZZFLAGS="-test.parallel 1" vet static vuln fuzz hostile nocgo arm64

# The notes are of one make test.
fresh:
	@rm -f $(NOTES)

testrun:
	@mkdir -p build; CGO_ENABLED=0 $(GO) build -o build/bin/ ./internal/testrun

bench:
	@CGO_ENABLED=0 $(GO) run ./cmd/ane-roundtrip bench
	@CGO_ENABLED=0 $(GO) run ./internal/engine/soft/kernbench

# On a Mac, Apple's Command Line Tools have what the tests need; cc is there without them, as
# a stub, so build.sh looks for the tools themselves.
needs:
	@sh objcbridge/build.sh --tools
	@sh objcbridge/needs.sh

format:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "not gofmt-clean:"; echo "$$out"; exit 1; fi

# FOR_TARGET sets the environment of target $$t. Nothing here runs the code for a Mac, so it is not optimized.
FOR_TARGET = export CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t\#*/}; \
	case $$t in linux/*) ;; *) export GOFLAGS="$$GOFLAGS '-gcflags=all=-N -l'";; esac

# FILES lists the packages with their files, which differ between targets.
FILES = $(GO) list -f '{{.ImportPath}} {{.GoFiles}} {{.CgoFiles}} {{.SFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}' ./... | sort

# All packages are vetted for a Mac, where people run their tests, and here those with other files than there. Of the
# files that linux/arm64 alone has, none is more than a stub.
vet:
	@mkdir -p build; for t in $(TARGETS); do echo "go build $$t"; ( $(FOR_TARGET); $(GO) build -ldflags=-w ./... ) || exit 1; done
	@t=$(MAC); echo "go vet $$t"; $(FOR_TARGET); $(FILES) >build/files.mac; $(GO) vet ./...
	@echo "go vet with cgo"; export CGO_ENABLED=1; \
		$(GO) vet $$($(FILES) | comm -23 - build/files.mac | cut -d' ' -f1)

# For a Mac, the packages whose files differ from those of this machine. There, what only Linux uses counts as unused, and
# stubs never return nil: two checks are for Linux alone. GOGC saves a quarter of its time, for half as much memory again.
static: export GOGC = 300
static:
	@mkdir -p build; GOBIN=$(CURDIR)/build/bin $(GO) install $(STATICCHECK)
	@echo "staticcheck with cgo"; export CGO_ENABLED=1; $(FILES) >build/files.here; build/bin/staticcheck ./...
	@t=$(MAC); echo "staticcheck $$t"; $(FOR_TARGET); build/bin/staticcheck -checks inherit,-U1000,-SA4023 \
		$$($(FILES) | comm -13 build/files.here - | cut -d' ' -f1)

# Without the database of vulnerabilities there is nothing to compare with.
# Status 3 of govulncheck means that it found some.
vuln:
	@mkdir -p build; if command -v curl >/dev/null && \
		! curl -sf --max-time 20 -o build/vuln.json https://vuln.go.dev/index/db.json; then \
		echo "govulncheck: skipped, the database of vulnerabilities cannot be reached"; exit 0; fi; \
	GOBIN=$(CURDIR)/build/bin $(GO) install $(GOVULNCHECK) >build/vuln.log 2>&1 \
		|| { echo "govulncheck: skipped, it cannot be installed here"; exit 0; }; \
	CGO_ENABLED=0 build/bin/govulncheck ./... >build/vuln.log 2>&1; code=$$?; \
	case $$code in \
	0) echo "govulncheck: nothing found";; \
	3) cat build/vuln.log; exit 1;; \
	*) echo "govulncheck: skipped, the database of vulnerabilities cannot be reached";; esac

# The packages that have goroutines, in their code or in their tests, but for the gates, which are programs in C. A process
# with the race detector sleeps a second before it ends unless told not to, and the broker's tests end many. Three
# packages run at a time, since many wait.
race: testrun
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(TESTRUN) $(GOTEST) -p 3 -race \
		$$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | while read -r dir; do \
			grep -qE '^\s*go [a-zA-Z(]|\.Go\(func|"sync(/atomic)?"|RunParallel' "$$dir"/*.go && echo "$$dir"; done | \
			grep -v /gates$$)

# All packages, with all that their tests can do (ANEKIT_FULL), and each benchmark once. go test -bench runs one package at
# a time, so the test binaries get the flag itself. It, busy and hostile are built with cgo, so that each package is
# compiled once for them.
plain: testrun
	ANEKIT_FULL=1 CGO_ENABLED=1 $(TESTRUN) $(GOTEST) -p 3 ./... -args -test.bench=. -test.benchtime=1x

# A test that depends on time fails here: each core has a spinner while the tests run. Four packages at a time get more
# than half of the cores.
busy: testrun
	ANEKIT_BUSY=1 CGO_ENABLED=1 $(TESTRUN) -busy $(GOTEST) -p 4 -count=1 $(WAITING)

# Hostile clients against the broker, a minute with the start and the end.
hostile: testrun
	ANEKIT_HOSTILE=$(HOSTILE) CGO_ENABLED=1 $(TESTRUN) $(GOTEST) -count=1 ./internal/hostile

# The packages that differ without cgo, and the static command, which cannot load libraries.
nocgo: testrun
	CGO_ENABLED=0 $(TESTRUN) $(GOTEST) -run 'TestScripts/(check|gpu|info|run)$$|AddressSpace|Without|Unavailable' \
		./cmd/ane-roundtrip ./internal/engine/standin ./objcbridge

# By hand only.
soak:
	ANEKIT_HOSTILE=$(SOAK) ANEKIT_HOSTILE_FAULTS=1 CGO_ENABLED=0 \
		$(GO) test -count=1 -timeout 0 -v -run TestCampaign ./internal/hostile

# By hand only.
races:
	@for p in 1 2 8; do for n in 1 2 3; do echo "race detector, $$p processors, run $$n"; \
		ANEKIT_FULL=1 GOMAXPROCS=$$p GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -count=1 -race $(RACING) || exit 1; done; done

# On an arm64 machine the target plain runs these tests. vulkan needs the C library of the processor, which the emulator
# does not have.
arm64: testrun
	@if [ -n "$(EMULATOR)" ]; then echo "go test linux/arm64 under qemu"; set -e; \
		export ANEKIT_EXEC=$(EMULATOR) CGO_ENABLED=0 GOOS=linux GOARCH=arm64; \
		$(TESTRUN) $(GOTEST) -exec $(EMULATOR) $$($(GO) list $(KERNELS)); \
		ANEKIT_MAKE= $(TESTRUN) $(GOTEST) -exec $(EMULATOR) $$($(GO) list $(EMULATED) | grep -v -e /vulkan$$ -e /kernels$$); \
		$(TESTRUN) $(GOTEST) -exec $(EMULATOR) -run 'TestScripts/(check|image|run)$$' ./cmd/ane-roundtrip; fi

# A package is built once for all its fuzzers. go test -fuzz would compile everything again to see which code an input
# reaches; -d=libfuzzer, which it gives the compiler, is for the package alone here. A fuzzer that its deadline catches in
# the middle of an input says so and fails; only one that has found an input to fail on has found something.
fuzz:
	@mkdir -p build; cache=$$($(GO) env GOCACHE)/fuzz; $(GO) list -f '{{.Dir}} {{.ImportPath}}' ./... | \
	while read -r dir pkg; do \
		all=$$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go 2>/dev/null | sed 's/func //'); \
		[ -z "$$all" ] || CGO_ENABLED=1 $(GO) test -c -ldflags=-w -gcflags="$$pkg=-d=libfuzzer" -o build/fuzz.test "$$pkg" || exit 1; \
		for f in $$all; do \
			echo "fuzz $$f"; \
			(here=$$PWD; cd "$$dir" && "$$here/build/fuzz.test" -test.run '^$$' -test.fuzz "^$$f\$$" $(FUZZFLAGS) \
				-test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 1s -test.fuzzcachedir "$$cache/$$pkg") \
				</dev/null >build/fuzz.log 2>&1 || \
				{ grep -q 'context deadline exceeded' build/fuzz.log && ! grep -q 'Failing input' build/fuzz.log; } || \
				{ cat build/fuzz.log; exit 1; }; \
		done || exit 1; \
	done

# By hand, and in the workflow.
windows:
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build ./...

lint:
	@mkdir -p build; GOBIN=$(CURDIR)/build/bin $(GO) install $(GOLANGCI)
	build/bin/golangci-lint run ./...

# By hand only: it changes the package in one place after another and runs its tests each time.
# Gremlins calls go through casecover, which has the conditions of cases count as covered.
mutate:
	@test -n "$(PKG)" || { echo "no package; give one: make mutate PKG=./ane/mil/ops"; exit 2; }
	@mkdir -p build; GOBIN=$(CURDIR)/build/bin $(GO) install $(GREMLINS)
	@CGO_ENABLED=0 $(GO) build -o build/mutate/go ./internal/casecover
	CASECOVER_GO="$$(command -v $(GO))" PATH="$(CURDIR)/build/mutate:$$PATH" \
		build/bin/gremlins unleash $(MUTATEFLAGS) $(PKG)

clean:
	rm -rf build
