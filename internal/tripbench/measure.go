package tripbench

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
)

// The measurement: rounds of calls, in turn for each size and the floor. The median is that of
// the best round, because on a busy machine waking the other core takes ten times as long as
// the rest, for evaluation and floor.
const (
	rounds = 15
	calls  = 400 // timed calls per round
	warm   = 40  // calls before them that are not timed
)

// sizes are the sizes of the inputs in bytes.
var sizes = [...]int{1 << 20, 16 << 20, 256 << 20}

// Measure times evaluations on d and the floor.
func Measure(ctx context.Context, d *ane.Device, progress func(string)) (r Report, err error) {
	r.Engine = d.Receipt().Engine
	if err := ctx.Err(); err != nil {
		return r, err
	}
	s, err := NewSignals()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// If the other process dies, a waiting Trip ends with ctx.
	defer context.AfterFunc(ctx, s.interrupt)()
	rows := make([]*row, len(sizes))
	work := []func() error{s.Trip}
	for i, n := range sizes {
		rows[i], err = openRow(ctx, d, n)
		defer func() { err = errors.Join(err, rows[i].close(context.WithoutCancel(ctx))) }()
		if err != nil {
			return r, err
		}
		work = append(work, rows[i].evaluate)
	}
	progress("evaluations in another process")
	times, err := timed(ctx, work)
	if err != nil {
		return r, err
	}
	r.Floor = times[0].best
	for i, x := range rows {
		if err := x.check(); err != nil {
			return r, err
		}
		t := Trip{Bytes: x.bytes, P50: times[i+1].best, P99: percentile(times[i+1].all, 99), Target: target}
		if t.Allocs, err = x.allocs(); err != nil {
			return r, err
		}
		t.Ratio = float64(t.P50) / float64(r.Floor)
		t.Within = t.Ratio <= maxRatio && t.P50 < maxP50
		r.Trips = append(r.Trips, t)
	}
	r.Spread = float64(r.Trips[len(rows)-1].P50) / float64(r.Trips[0].P50)
	return r, nil
}

// times are the times of one kind of work.
type times struct {
	all  []time.Duration // sorted
	best time.Duration   // median of the best round
}

// timed times calls of each kind of work.
func timed(ctx context.Context, work []func() error) ([]times, error) {
	found := make([]times, len(work))
	round := make([]time.Duration, calls)
	for n := range rounds {
		for i, call := range work {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			for k := range warm + calls {
				start := time.Now()
				if err := call(); err != nil {
					return nil, err
				}
				round[max(k-warm, 0)] = time.Since(start)
			}
			slices.Sort(round)
			if p50 := percentile(round, 50); n == 0 || p50 < found[i].best {
				found[i].best = p50
			}
			found[i].all = append(found[i].all, round...)
		}
	}
	for _, t := range found {
		slices.Sort(t.all)
	}
	return found, nil
}

// percentile returns the time that of percent of the calls do not exceed.
func percentile(sorted []time.Duration, of int) time.Duration { return sorted[len(sorted)*of/100] }
