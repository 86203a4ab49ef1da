# make test    what every change must pass; as root on Debian it installs what it needs. Its layers: format, vet,
#              static, size, plain (every test), mac (the tests with the rules of macOS), race
# make full    the long cases: every night, and before an issue is closed
# make bench   the tables of measured figures
# make build   the command, into build/
# make asm     the assembly that internal/asm writes
# make bridge  the bridge to Apple's framework, into build/bridge/; on Linux over stand-ins
# make size    how many lines, packages and exported names there are, and whether they are within their bounds
# make lint    golangci-lint, which takes minutes to build
#
# By hand, for hours:
#
# make soak    hostile clients against the broker, and faults around it, for SOAK=10m
# make races   the packages with threads nine times with the race detector, at 1, 2 and 8 processors
# make mutate PKG=./internal/ops  which changes of a package its tests do not notice
#
# -short and ANEKIT_FULL are the only switches for how much tests do; package internal/effort describes them.

GO ?= go
GOLANGCI = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GREMLINS = github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
FUZZTIME ?= 500ms
HOSTILE ?= 45s
SOAK ?= 10m

HERE := $(shell $(GO) env GOOS 2>/dev/null)/$(shell $(GO) env GOARCH 2>/dev/null)
# The systems that everything is compiled for without cgo, and those among them that go vet with cgo does not check.
TARGETS = linux/amd64 darwin/arm64
OTHERS = $(filter-out $(HERE),$(TARGETS))
# FOR_TARGET sets the environment of target $$t. Nothing here runs that code, so it is not optimized.
FOR_TARGET = export CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t\#*/} GOFLAGS="$$GOFLAGS '-gcflags=all=-N -l'"

# A line for each package; at the end the skipped tests with their reasons, then the failures.
GOTEST = build/bin/gotestsum --format pkgname --format-hide-empty-pkg --raw-command -- $(GO) test -json
# A test that hangs ends by its own limit; go test's own, ten minutes for a package, is too little under an emulator.
# The step vet runs more of go vet than go test does. Three packages at a time, since many tests wait.
TESTFLAGS = -vet=off -timeout 45m -p 3
# The packages whose tests draw cases with rapid.
RAPID = $$($(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | grep pgregory.net/rapid | cut -d' ' -f1)
# A process with the race detector sleeps a second before it ends unless told not to, and tests start many.
RACE = GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GOTEST) -race $(TESTFLAGS)
# The packages that have goroutines, in their code or in their tests, but for the gates, which are programs in C.
CONCURRENT = $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | while read -r dir; do \
	grep -qE '^\s*go [a-zA-Z(]|\.Go\(func|"sync(/atomic)?"|RunParallel' "$$dir"/*.go && echo "$$dir"; done | grep -v /gates$$)
# The packages in which goroutines share memory, for make races.
SHARING = ./internal/engine/broker/... ./internal/engine/soft ./internal/engine/soft/run ./internal/hostile \
	./internal/iosurface/... ./ane ./ane/engine ./unimem/...
# The packages whose tests wait for threads or processes.
WAITING = ./internal/engine/broker/... ./internal/engine/apple ./internal/engine/standin/... ./objcbridge \
	./cmd/ane-roundtrip ./unimem/... ./internal/await ./internal/iosurface/... ./internal/wholefile

# Other processors run the arm64 tests in an emulator.
ifeq ($(HERE),linux/amd64)
EMULATOR = qemu-aarch64-static
endif
# The packages with code of their own for arm64, or arithmetic with fractions, which compilers fuse on some processors.
KERNELS = ./internal/engine/soft/... ./ane/fp16/... ./internal/numerics ./unimem/internal/kernels
# Those of memory that processes share and of what computes with the former, with -short. The others are only compiled.
EMULATED = ./models/... ./ane ./ane/mil/blob ./internal/ops ./ane/wasm ./ane/weights \
	./cmd/ane-roundtrip/internal/picture ./internal/engine/broker/slots ./internal/engine/broker/wire/... \
	./internal/iosurface/... ./unimem/...

.PHONY: test tests checks full build asm freshasm bridge needs needfull tools format vet static race plain mac fullplain \
	fullrace staticmac rapid arm64 benchonce fuzz hostile busy nocgo windows vuln bench size lint soak races mutate clean

# The checks that compile run beside the tests, many of which wait.
test: needs format bridge tools
	@$(MAKE) --no-print-directory -j2 checks tests
	@echo "make test: all passed"
checks:
	@$(MAKE) --no-print-directory MAKEFLAGS= GO="$(GO)" freshasm size vet static $(if $(filter linux/%,$(HERE)),mac)
tests:
	@$(MAKE) --no-print-directory MAKEFLAGS= GO="$(GO)" plain race

# Each part has the machine for itself, and all are tried.
full: needfull bridge tools
	@failed=; for step in fullplain rapid fullrace arm64 benchonce fuzz hostile busy nocgo windows staticmac vuln; do \
		echo "make $$step"; $(MAKE) --no-print-directory $$step || failed="$$failed $$step"; done; \
	if [ -n "$$failed" ]; then echo "make full: failed:$$failed"; exit 1; fi; echo "make full: all passed"

build:
	CGO_ENABLED=0 $(GO) build -ldflags='-s -w' -o build/ ./cmd/ane-roundtrip

# The generator has a module of its own, which keeps avo apart from what the library needs.
ASM = CGO_ENABLED=0 GOFLAGS= $(GO) -C internal/asm run .
asm:
	@$(ASM)
freshasm:
	@$(ASM) -check

# Installs what it needs when root on Debian, else names it. On a Mac it needs Apple's
# Command Line Tools; a Mac without them can use the library that another built. The command beside the
# libraries is one that can load them; on Linux a static one cannot.
bridge:
	@sh objcbridge/build.sh build/bridge
	@CGO_ENABLED=1 $(GO) build -o build/bridge/ ./cmd/ane-roundtrip

bench:
	@CGO_ENABLED=0 $(GO) run ./cmd/ane-roundtrip bench
	@CGO_ENABLED=0 $(GO) test -run '^$$' -bench 'Kernels|Fused|Peers' ./internal/engine/soft

# On a Mac, Apple's Command Line Tools have what the tests need; cc is there without them, as
# a stub, so build.sh looks for the tools themselves.
needs:
	@sh objcbridge/build.sh --tools
	@sh objcbridge/needs.sh

# What make full needs beside it: qemu, and a browser for the tests of pages.
needfull: needs
	@sh objcbridge/needs.sh --full

# The module of the tools pins them apart from what the library needs.
tools:
	@mkdir -p build/bin; CGO_ENABLED=0 GOFLAGS= GOBIN=$(CURDIR)/build/bin $(GO) -C internal/tools install tool

format:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "not gofmt-clean:"; echo "$$out"; exit 1; fi

vet:
	@for t in $(TARGETS); do echo "go build $$t"; ( $(FOR_TARGET); $(GO) build -ldflags=-w ./... ) || exit 1; done
	@for t in $(OTHERS); do echo "go vet $$t"; ( $(FOR_TARGET); $(GO) vet ./... ) || exit 1; done
	@echo "go vet with cgo"; CGO_ENABLED=1 $(GO) vet ./...

# On a Mac, and with its rules, what only Linux uses counts as unused, and stubs never return nil: two checks are for
# Linux alone.
MACCHECKS = -checks inherit,-U1000,-SA4023

# GOGC saves a quarter of its time, for half as much memory again.
static: export GOGC = 300
static: tools
	@echo "staticcheck with cgo"; CGO_ENABLED=1 build/bin/staticcheck $(if $(filter darwin/%,$(HERE)),$(MACCHECKS)) ./...

plain: tools
	CGO_ENABLED=1 $(GOTEST) $(TESTFLAGS) ./...

race: tools
	$(RACE) -short $(CONCURRENT)

# Linux with the rules of macOS: the Mac's own files, over stand-ins of its libraries, and nothing that a Mac does not
# have. A test that is skipped there names what the host lacks. A Mac has its own rules and no stand-ins: the other steps
# run all of this there.
mac: tools
	@echo "go vet with macrules"; CGO_ENABLED=1 $(GO) vet -tags macrules ./...
	CGO_ENABLED=1 build/bin/gotestsum --jsonfile build/mac.json --format pkgname --format-hide-empty-pkg \
		--hide-summary skipped --raw-command -- $(GO) test -json -tags macrules -short $(TESTFLAGS) ./...
	@$(GO) run ./internal/macskips build/mac.json

fullplain: tools
	ANEKIT_FULL=1 CGO_ENABLED=1 $(GOTEST) $(TESTFLAGS) ./...

# 500 random cases of each property instead of 100.
rapid: tools
	CGO_ENABLED=1 $(GOTEST) $(TESTFLAGS) $(RAPID) -rapid.checks=500

fullrace: tools
	ANEKIT_HOSTILE=10s $(RACE) $(CONCURRENT)

staticmac: export GOGC = 300
staticmac: tools
	@t=darwin/arm64; $(FOR_TARGET); build/bin/staticcheck $(MACCHECKS) ./...
	@CGO_ENABLED=1 build/bin/staticcheck -tags macrules $(MACCHECKS) ./...

# Natively, the steps above run these tests. vulkan needs the C library of the processor, which the emulator does not
# have.
arm64: tools
	@if [ -n "$(EMULATOR)" ]; then set -e; \
		export ANEKIT_EXEC=$(EMULATOR) CGO_ENABLED=0 GOOS=linux GOARCH=arm64; \
		$(GO) build -ldflags=-w ./...; \
		$(GOTEST) $(TESTFLAGS) -exec $(EMULATOR) $$($(GO) list $(KERNELS)); \
		$(GOTEST) $(TESTFLAGS) -exec $(EMULATOR) -short $$($(GO) list $(EMULATED) | grep -v -e /vulkan$$ -e /kernels$$); \
		$(GOTEST) $(TESTFLAGS) -exec $(EMULATOR) -run 'TestScripts/(check|image|run)$$' ./cmd/ane-roundtrip; fi

# go test -bench runs one package at a time, so the test binaries get the flag itself. gotestsum counts benchmarks as
# tests without an end.
benchonce:
	CGO_ENABLED=1 $(GO) test $(TESTFLAGS) -short -run '^$$' ./... -args -test.bench=. -test.benchtime=1x

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

# Hostile clients against the broker, a minute with the start and the end.
hostile: tools
	ANEKIT_HOSTILE=$(HOSTILE) CGO_ENABLED=1 $(GOTEST) $(TESTFLAGS) -count=1 ./internal/hostile

# A test that depends on time fails here: each core has a spinner while the tests run. Four packages at a time get more
# than half of the cores.
busy: tools
	@spinners=; trap 'kill $$spinners' EXIT; trap 'exit 130' INT TERM HUP; for core in $$(seq $$(getconf _NPROCESSORS_ONLN)); do \
		while :; do :; done & spinners="$$spinners $$!"; done; \
		CGO_ENABLED=1 $(GOTEST) $(TESTFLAGS) -p 4 -count=1 $(WAITING)

# The packages that differ without cgo, and the static command, which cannot load libraries.
nocgo: tools
	CGO_ENABLED=0 $(GOTEST) $(TESTFLAGS) -run 'TestScripts/(check|gpu|info|run)$$|AddressSpace|Without|Unavailable' \
		./cmd/ane-roundtrip ./internal/engine/standin ./objcbridge

windows:
	@t=windows/amd64; $(FOR_TARGET); $(GO) build -ldflags=-w ./...

# Without the database of vulnerabilities there is nothing to compare with.
vuln: tools
	@if CGO_ENABLED=0 build/bin/govulncheck ./... >build/vuln.log 2>&1; then echo "govulncheck: nothing found"; \
	elif grep -q "fetching vulnerabilities" build/vuln.log; then \
		echo "govulncheck: skipped, the database of vulnerabilities cannot be reached"; \
	else cat build/vuln.log; exit 1; fi

size:
	@CGO_ENABLED=0 $(GO) run ./internal/size

lint:
	@mkdir -p build; GOBIN=$(CURDIR)/build/bin $(GO) install $(GOLANGCI)
	build/bin/golangci-lint run ./...

soak:
	ANEKIT_HOSTILE=$(SOAK) ANEKIT_HOSTILE_FAULTS=1 CGO_ENABLED=0 \
		$(GO) test -count=1 -timeout 0 -v -run TestCampaign ./internal/hostile

races:
	@for p in 1 2 8; do for n in 1 2 3; do echo "race detector, $$p processors, run $$n"; \
		ANEKIT_FULL=1 GOMAXPROCS=$$p GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -count=1 -race $(SHARING) || exit 1; \
		done; done

# It changes the package in one place after another and runs its tests each time.
# Gremlins calls go through casecover, which has the conditions of cases count as covered.
mutate:
	@test -n "$(PKG)" || { echo "no package; give one: make mutate PKG=./internal/ops"; exit 2; }
	@mkdir -p build; GOBIN=$(CURDIR)/build/bin $(GO) install $(GREMLINS)
	@CGO_ENABLED=0 $(GO) build -o build/mutate/go ./internal/casecover
	CASECOVER_GO="$$(command -v $(GO))" PATH="$(CURDIR)/build/mutate:$$PATH" \
		build/bin/gremlins unleash $(MUTATEFLAGS) $(PKG)

clean:
	rm -rf build
