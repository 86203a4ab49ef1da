package membench

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"
)

// Plan selects what to measure. The zero Plan measures the whole report.
type Plan struct {
	Cases    []Case        // nil: Cases()
	Sizes    []int         // bytes; nil: 4 KB to 256 MB
	Rounds   int           // rounds of operation and floor in turn; 0: 3
	Time     time.Duration // time of each measurement; 0: 100 ms
	Progress func(string)  // called with the name of the next measurement; may be nil
}

func (p Plan) filled() Plan {
	if p.Cases == nil {
		p.Cases = Cases()
	}
	if p.Sizes == nil {
		p.Sizes = []int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20}
	}
	if p.Rounds <= 0 {
		p.Rounds = 3
	}
	if p.Time <= 0 {
		p.Time = 100 * time.Millisecond
	}
	if p.Progress == nil {
		p.Progress = func(string) {}
	}
	return p
}

// Measure runs a Plan. It checks ctx before every measurement, which takes at most about a
// second. It sets the flag test.benchtime while it runs, so it must not run concurrently.
func Measure(ctx context.Context, p Plan) (Report, error) {
	p = p.filled()
	defer setBenchTime(p.Time.String())()
	r := Report{Floors: bareKind}
	for _, c := range p.Cases {
		p.Progress(c.Operation)
		o, err := p.measure(ctx, c)
		if err != nil {
			return Report{}, err
		}
		r.Operations = append(r.Operations, o)
	}
	for _, size := range p.Sizes {
		p.Progress("a Block of " + BytesText(size))
		s, err := measureSize(ctx, size)
		if err != nil {
			return Report{}, err
		}
		r.Sizes = append(r.Sizes, s)
	}
	return r, nil
}

// setBenchTime sets the time of testing.Benchmark and returns a function that restores it.
func setBenchTime(d string) (restore func()) {
	const name = "test.benchtime"
	if flag.Lookup(name) == nil {
		testing.Init() // outside of tests its flags do not exist yet
	}
	value := flag.Lookup(name).Value
	old := value.String()
	_ = value.Set(d) // the flag parses the form that a Duration prints
	return func() { _ = value.Set(old) }
}

// measure runs operation and floor in turn, so that both run under the same load, and keeps
// the best result of each.
func (p Plan) measure(ctx context.Context, c Case) (Operation, error) {
	o := Operation{Name: c.Name, Operation: c.Operation, Target: c.Target, Published: c.Published, Bytes: c.Bytes}
	if o.Skipped = lacking(c.Bytes); o.Skipped != "" {
		return o, nil
	}
	var value, floor float64
	var allocs [2]int64 // the least per call: a short round on a busy machine counts allocations of others too
	for round := range p.Rounds {
		for i, part := range []struct {
			body func(*testing.B)
			best *float64
		}{{c.Floor, &floor}, {c.Run, &value}} {
			if err := ctx.Err(); err != nil {
				return Operation{}, err
			}
			r := testing.Benchmark(part.body)
			if r.N == 0 {
				return Operation{}, fmt.Errorf("membench: %s failed; run go test -bench %s ./unimem for the reason",
					c.Operation,
					c.Name)
			}
			keepBest(part.best, float64(r.T.Nanoseconds())/float64(r.N))
			if n := r.AllocsPerOp(); round == 0 || n < allocs[i] {
				allocs[i] = n
			}
		}
	}
	o.Allocs = allocs[1]
	o.Measured = slower(value, floor)
	o.GBPerSec = float64(c.Bytes) / value
	o.Within = (c.MaxRatio == 0 || o.Measured.Ratio <= c.MaxRatio) && (c.MaxNs == 0 || value < c.MaxNs)
	o.FloorBeyond = c.MaxNs != 0 && floor >= c.MaxNs
	return o, nil
}

// keepBest lowers best to v. Zero means not measured, for both.
func keepBest(best *float64, v float64) {
	if v != 0 && (*best == 0 || v < *best) {
		*best = v
	}
}
