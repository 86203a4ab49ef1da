package run

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// evaluation holds the figures of --repeat.
type evaluation struct {
	Repeat  int            `json:"repeat"`
	First   time.Duration  `json:"first_ns"`
	Min     time.Duration  `json:"min_ns"`
	P50     time.Duration  `json:"p50_ns"`
	P99     time.Duration  `json:"p99_ns"`
	Copied  *int           `json:"bytes_copied"` // of tensors that the engine does not reach in place; null: not shown
	Allocs  *uint64        `json:"allocs"`       // of Go, for one evaluation after the first; null if there is only one
	Latency *trial.Latency `json:"latency"`      // null for one evaluation
}

// rounds is how often measure counts allocations. It reports the round with the fewest, since the runtime and the
// progress bar allocate too.
const rounds = 10

// measure evaluates repeat times on the same tensors, in up to ten rounds. It calls done after each round.
func measure(ctx context.Context, rig *trial.Rig, repeat int, done func()) evaluation {
	e := evaluation{Repeat: repeat}
	times := make([]time.Duration, 0, repeat)
	var before, after runtime.MemStats
	for round := range min(rounds, repeat) {
		n := (round+1)*repeat/min(rounds, repeat) - len(times)
		runtime.ReadMemStats(&before)
		for range n {
			times = append(times, trial.Must(rig.Request.Evaluate(ctx)).Elapsed)
		}
		runtime.ReadMemStats(&after)
		allocs := (after.Mallocs - before.Mallocs) / uint64(n)
		if repeat > 1 && (e.Allocs == nil || allocs < *e.Allocs) {
			e.Allocs = &allocs
		}
		done()
	}
	e.First = times[0]
	slices.Sort(times)
	e.Latency = trial.Histogram(times)
	e.Min, e.P50, e.P99 = times[0], times[len(times)/2], times[len(times)*99/100]
	return e
}
