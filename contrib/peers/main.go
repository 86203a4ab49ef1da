// Command peers measures anekit beside the libraries that people would pick instead, in turns in one run, and prints
// the table: OpenBLAS, ONNX Runtime, llama.cpp, bare wazero, and packages in Go. README.md says what it needs.
//
//	npm install && go run .
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/step"
)

// options are the flags.
type options struct {
	only    string
	match   string
	threads int
	rounds  int
	time    time.Duration
	dir     string
	small   bool
	rows    *int // printed
}

func main() {
	o := options{rows: new(int)}
	flag.StringVar(&o.only, "only", "all", "parts with commas between them: products, operators, files, wasm, decoder")
	flag.StringVar(&o.match, "match", "", "measure only rows whose names contain `TEXT`")
	flag.IntVar(&o.threads, "threads", 1, "threads of both; with 1, times are of the processor (see README), else of the clock")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of the decoder, of which the best counts")
	flag.DurationVar(&o.time, "time", 400*time.Millisecond, "time for a row of the other parts")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "`FOLDER` for models, up to 1 GB at a time")
	flag.BoolVar(&o.small, "small", false, "a model of 15 million weights instead of 222 million")
	flag.Parse()
	runtime.GOMAXPROCS(o.threads)
	if err := step.Run(context.Background(), o.run); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func (o options) run(t *step.T) {
	fmt.Printf("# %s, %d threads\n", processor(), o.threads)
	parts := map[string]func(*step.T){"products": o.products, "operators": o.operators, "files": o.files,
		"wasm": o.wasm, "decoder": o.decoder}
	names := strings.Split(strings.Replace(o.only, "all", "products,operators,files,wasm,decoder", 1), ",")
	for _, name := range names {
		part, ok := parts[name]
		if !ok {
			step.NoError(fmt.Errorf("-only %s: there is no such part", name))
		}
		fmt.Printf("\n%-58s %11s %11s %6s %6s\n", name, "anekit", "peer", "ratio", "wanted")
		step.NoError(step.Run(t.Ctx, part)) // frees what the part holds
	}
	if *o.rows == 0 {
		step.NoError(fmt.Errorf("-match %s: no row of %s has that", o.match, o.only))
	}
}

// processor names the processor.
func processor() string {
	return fmt.Sprintf("%s, family %d, model %d", cpuid.CPU.BrandName, cpuid.CPU.Family, cpuid.CPU.Model)
}

// wants reports whether a row is to be measured.
func (o options) wants(name string) bool { return strings.Contains(name, o.match) }

// print prints a row.
func (o options) print(name string, ours, peer time.Duration, wanted float64) {
	ratio, verdict := float64(ours)/float64(peer), ""
	if ratio > wanted {
		verdict = " missed"
	}
	*o.rows++
	fmt.Printf("%-58s %11s %11s %6.2f %6.2f%s\n", name, brief(ours), brief(peer), ratio, wanted, verdict)
}

// brief has three digits.
func brief(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// now is the time that this process has computed, or with several threads the clock's.
func (o options) now() time.Duration {
	var now unix.Timespec
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if o.threads > 1 {
		clock = unix.CLOCK_MONOTONIC
	}
	step.NoError(unix.ClockGettime(clock, &now))
	return time.Duration(now.Nano())
}

// burst is how long one side computes before the other takes its turn: long enough to have the caches for itself. It is
// two calls at least: Go's monitor thread wakes some fifty times in the first one after a long call of C.
const burst = 15 * time.Millisecond

// pair measures two functions in turns, and returns the shortest time of each. Where a host takes the processor from
// this machine, the kernel subtracts that time at once from what a process computes later: nine tenths of the clock's
// time count at least.
func (o options) pair(ours, peer func()) (best [2]time.Duration) {
	sides := [2]func(){ours, peer}
	for i, run := range sides {
		run()
		best[i] = 1 << 62
	}
	for begin, turns := time.Now(), 0; turns < 3 || time.Since(begin) < o.time; turns++ {
		for i, run := range sides {
			for start, calls := time.Now(), 1; ; calls++ {
				before, began := o.now(), time.Now()
				run()
				best[i] = min(best[i], max(o.now()-before, time.Since(began)*9/10))
				if calls > 1 && time.Since(start) > burst {
					break
				}
			}
		}
	}
	return best
}
