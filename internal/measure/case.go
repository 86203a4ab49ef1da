package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/anekit/anekit/internal/procmem"
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

	Open func(ctx context.Context) (Pair, error)
}

// Loop does an operation n times.
type Loop func(n int) error

// Pair is what a Case measures.
type Pair struct {
	Loop, Floor Loop
	Close       func() error // nil if there is nothing to close
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

// opened is a Pair with the number of operations of a turn.
type opened struct {
	Pair
	each, allCores bool
	n              int
	took           time.Duration // of a turn of the loop
	all            []float64     // times of all operations, with each
}

// open opens the pair and finds out how many operations take long enough.
func (c *Case) open(ctx context.Context) (o *opened, err error) {
	// The operation and its floor, and what the collector has not freed yet.
	if need, have := uint64(3*c.Bytes), procmem.Available(); need > have {
		return nil, fmt.Errorf("%w: needs %d MB, %d MB are free; run it on a larger machine or raise the container's "+
			"limit", ErrMemory, need>>20, have>>20)
	}
	o = &opened{each: c.Each, allCores: c.AllCores, n: calls}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Pair, err = c.Open(ctx); err != nil {
		return nil, err
	}
	enough := piece
	if c.AllCores {
		o.Loop, o.Floor, enough = divided(o.Loop), divided(o.Floor), shared
	}
	if !c.Each {
		o.n = 1
	}
	for {
		start := time.Now()
		if err := o.Loop(o.n); err != nil {
			return nil, errors.Join(err, o.close())
		}
		if o.took = time.Since(start); c.Each || o.took >= enough || o.n >= most {
			return o, nil
		}
		o.n *= 2
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

func (o *opened) close() error {
	if o.Close == nil {
		return nil
	}
	return o.Close()
}

func (o *opened) side(l Loop) Side {
	if !o.each {
		return func(*Watch) error { return l(o.n) }
	}
	return func(w *Watch) error {
		w.laps = make([]float64, 0, o.n)
		if err := l(warm); err != nil {
			return err
		}
		w.last = time.Now()
		for range o.n {
			if err := l(1); err != nil {
				return err
			}
			w.Lap()
		}
		return nil
	}
}

// turns lets loop and floor take turns and returns the best time of an operation of each.
func (o *opened) turns(ctx context.Context, n int) (value, floor float64, err error) {
	t, err := Turns(ctx, n, o.side(o.Loop), o.side(o.Floor))
	if err != nil {
		return 0, 0, err
	}
	switch {
	case o.allCores: // in the best turn they ran one after another
		return t[0].Median(0) / float64(o.n), t[1].Median(0) / float64(o.n), nil
	case !o.each:
		return t[0].Best(0) / float64(o.n), t[1].Best(0) / float64(o.n), nil
	}
	var best [2]Times
	for i := range t {
		for _, turn := range t[i] {
			if i == 0 {
				o.all = append(o.all, turn...)
			}
			best[i] = append(best[i], []float64{percentile(turn, 50)})
		}
	}
	return best[0].Best(0), best[1].Best(0), nil
}

// allocs counts the allocations of an operation.
func (o *opened) allocs() (int64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := o.Loop(o.n)
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs-before.Mallocs) / int64(o.n), err
}

// Measure measures the case in so many rounds of some time.
func (c *Case) Measure(ctx context.Context, rounds int, each time.Duration) (r Row, err error) {
	o, err := c.open(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	var value, floor, ratio Figure
	for i := range max(rounds, 1) {
		v, f, err := o.turns(ctx, int(each/(2*max(o.took, 1))))
		if err != nil {
			return r, err
		}
		value.Add(v)
		floor.Add(f)
		ratio.Add(v / f)
		// The least counts: others of this process allocate too.
		n, err := o.allocs()
		if err != nil {
			return r, err
		}
		if i == 0 || n < r.Allocs {
			r.Allocs = n
		}
	}
	if c.Each {
		r.P99 = percentile(o.all, 99)
	}
	r.fill(c, value, floor, ratio)
	return r, nil
}
