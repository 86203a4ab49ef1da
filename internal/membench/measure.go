package membench

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"
)

// Plan says what to measure. The zero Plan is the whole report.
type Plan struct {
	Cases    []Case        // nil: Cases()
	Sizes    []int         // bytes; nil: 4 KB to 256 MB
	Rounds   int           // of operation and floor in turn; 0: 3
	Time     time.Duration // of each; 0: 100 ms
	Progress func(string)  // told what is measured next; may be nil
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

// Measure runs a Plan. It looks at ctx before every single measurement, the longest of which
// take about a second. It sets the flag test.benchtime meanwhile, so two must not run at once.
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
		p.Progress("a Block of " + bytesText(size))
		s, err := measureSize(ctx, size)
		if err != nil {
			return Report{}, err
		}
		r.Sizes = append(r.Sizes, s)
	}
	return r, nil
}

// setBenchTime sets how long testing.Benchmark measures and returns how to undo it.
func setBenchTime(d string) (restore func()) {
	const name = "test.benchtime"
	if flag.Lookup(name) == nil {
		testing.Init() // not in a test: its flags do not exist yet
	}
	value := flag.Lookup(name).Value
	old := value.String()
	_ = value.Set(d) // a Duration prints as what the flag parses
	return func() { _ = value.Set(old) }
}

// measure takes operation and floor in turn, so that both see the same weather, and keeps
// the best of each.
func (p Plan) measure(ctx context.Context, c Case) (Operation, error) {
	o := Operation{Name: c.Name, Operation: c.Operation, Target: c.Target, Published: c.Published, Bytes: c.Bytes}
	if o.Skipped = lacking(c.Bytes); o.Skipped != "" {
		return o, nil
	}
	var value, floor float64
	var allocs [2]int64 // the least per call: a round that a busy machine cuts short counts others' too
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
				return Operation{}, fmt.Errorf("membench: %s failed; go test -bench %s ./unimem says why", c.Operation,
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

// keepBest lowers best to v. Zero stands for not measured on both sides.
func keepBest(best *float64, v float64) {
	if v != 0 && (*best == 0 || v < *best) {
		*best = v
	}
}
