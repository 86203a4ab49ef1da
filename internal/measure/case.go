package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
)

// Case is an operation beside its floor.
type Case struct {
	Name      string // of its benchmark and its checks
	What      string // its name in tables
	Published string // a figure of others; empty if there is none
	// The target: at most MaxRatio times the floor, less than MaxNs nanoseconds. Zero is no limit.
	MaxRatio, MaxNs float64
	Bytes           int64 // that an operation moves, 0 for an operation without throughput
	Items           int   // elements or products of an operation, 0 for none
	AllCores        bool  // as many goroutines as processors share the operations
	Each            bool  // every operation is timed: the figure is the median of the best turn

	Open  Opener
	Floor Opener // nil: the operation is beside itself
}

// ErrMemory: the memory that is available does not suffice.
var ErrMemory = errors.New("not enough memory")

const (
	// piece is the least time of a turn: much more than the clock takes, and less than a time slice of the system.
	piece = 200 * time.Microsecond
	// shared is that of a turn of all processors: the goroutines have to run at the same time.
	shared = 20 * time.Millisecond
	// most is the number of operations of a turn if they take no time.
	most = 1 << 30
	// Operations of a turn that are timed each, and those before them that are not.
	calls, warm = 400, 40
)

// Measure measures the case in so many rounds of some time.
func (c *Case) Measure(ctx context.Context, rounds int, each time.Duration) (Row, error) {
	return c.measure(ctx, rounds, func(took time.Duration) int { return int(each / (2 * max(took, 1))) })
}

// measure asks turns how many turns a round has, with the time that one of the operation takes.
func (c *Case) measure(ctx context.Context, rounds int, turns func(took time.Duration) int) (r Row, err error) {
	// The operation and its floor, and what the collector has not freed yet.
	if need, have := uint64(3*c.Bytes), procmem.Available(); need > have {
		return r, fmt.Errorf("%w: needs %d MB, %d MB are free; run it on a larger machine or raise the container's "+
			"limit", ErrMemory, need>>20, have>>20)
	}
	err = step.Run(ctx, func(t *step.T) {
		step.NoError(ctx.Err())
		var floor Loop
		if c.Floor != nil { // first: what has no floor on this system is not opened
			floor = c.Floor(t)
		}
		operation := c.Open(t)
		if c.Floor == nil {
			floor = operation
		}
		if c.AllCores {
			operation, floor = divided(operation), divided(floor)
		}
		r = c.run(ctx, []Loop{operation, floor}, rounds, turns)
	})
	return r, err
}

// run lets an operation and its floor take turns.
func (c *Case) run(ctx context.Context, loops []Loop, rounds int, turns func(time.Duration) int) (r Row) {
	n, took := c.enough(loops[0])
	laps, skip := 1, 0
	if c.Each {
		took = took / time.Duration(n) * calls
		n, laps, skip = 1, warm+calls, warm
	}
	var sides []Side
	for _, l := range loops {
		sides = append(sides, func(lap func()) error {
			for range laps {
				if err := l(n); err != nil {
					return err
				}
				lap()
			}
			return nil
		})
	}
	var figures [2][]float64
	var ratios, all []float64
	for i := range max(rounds, 1) {
		t := step.Must(Turns(ctx, turns(took), sides...))
		for side := range t {
			var medians []float64
			for _, turn := range t[side] {
				medians = append(medians, percentile(turn[skip:], 50)/float64(n))
			}
			figure := slices.Min(medians)
			if c.AllCores { // in the best turn they ran one after another
				figure = percentile(medians, 50)
			}
			figures[side] = append(figures[side], figure)
		}
		ratios = append(ratios, figures[0][i]/figures[1][i])
		for _, turn := range t[0] {
			all = append(all, turn[skip:]...)
		}
		made := allocated(loops[0], n*laps)
		if i == 0 || made < r.Allocs { // others of this process allocate too
			r.Allocs = made
		}
	}
	if c.Each {
		r.P99 = percentile(all, 99)
	}
	r.fill(c, figures[0], figures[1], ratios)
	return r
}

// enough finds out how many operations take long enough for a turn, and returns their time.
func (c *Case) enough(loop Loop) (n int, took time.Duration) {
	least := piece
	if c.AllCores {
		least = shared
	}
	for n = 1; ; n *= 2 {
		start := time.Now()
		step.NoError(loop(n))
		if took = time.Since(start); took >= least || n >= most {
			return n, took
		}
	}
}

// divided shares the operations of a loop among as many goroutines as processors.
func divided(l Loop) Loop {
	return func(n int) error {
		var all sync.WaitGroup
		errs := make([]error, runtime.GOMAXPROCS(0))
		for i := range errs {
			all.Go(func() { errs[i] = l(max(n/len(errs), 1)) })
		}
		all.Wait()
		return errors.Join(errs...)
	}
}

// allocated counts the allocations of an operation.
func allocated(l Loop, n int) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	step.NoError(l(n))
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs-before.Mallocs) / int64(n)
}

// Bench runs a benchmark of each case, of b.N turns. It reports the best times of the operation and of its floor, and
// how many times the floor the operation takes.
func Bench(b *testing.B, cases []Case) {
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			r := c.bench(b)
			b.ReportMetric(r.Floor, "ns/floor")
			b.ReportMetric(r.Ratio, "x-floor")
			if c.MaxRatio > 0 {
				b.ReportMetric(c.MaxRatio, "x-target")
			}
			switch {
			case c.Items > 0:
				b.ReportMetric(r.Measured/float64(c.Items), "ns/item")
			case c.Bytes > 0:
				b.ReportMetric(float64(r.Throughput)/1e6, "MB/s")
			}
		})
	}
}

// Percentiles is a benchmark of one call after another: their median, their 99th percentile and their allocations.
func Percentiles(b *testing.B, call func() error) {
	b.Helper()
	c := Case{Each: true, Open: func(*step.T) Loop { return Repeat(call) }}
	b.ReportMetric(float64(c.bench(b).Allocs), "allocs/call")
}

// bench measures b.N turns.
func (c *Case) bench(b *testing.B) Row {
	r, err := c.measure(b.Context(), 1, func(time.Duration) int { b.ResetTimer(); return b.N })
	b.StopTimer()
	if errors.Is(err, ErrMemory) || errors.Is(err, errors.ErrUnsupported) {
		b.Skip(err)
	} else if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(r.Measured, "ns/op")
	if c.Each {
		b.ReportMetric(r.P99, "p99-ns")
	}
	return r
}
