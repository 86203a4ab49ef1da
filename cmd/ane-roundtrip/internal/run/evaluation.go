package run

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// evaluation holds the figures of --repeat.
type evaluation struct {
	Repeat int           `json:"repeat"`
	First  time.Duration `json:"first_ns"`
	Min    time.Duration `json:"min_ns"`
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	// bytes of tensors that the engine does not reach in place; null if the engine cannot show that
	Copied *int `json:"bytes_copied"`
	// Go allocations of one evaluation after the first; null if there is only one
	Allocs *uint64 `json:"allocs"`
	// null for one evaluation
	Latency *trial.Latency `json:"latency"`
}

// rounds is how often evaluate counts allocations. It reports the round with the fewest, since the
// runtime and the progress bar allocate too.
const rounds = 10

// evaluate runs the program repeat times on the same tensors, in up to ten rounds. It calls done
// after each round.
func evaluate(ctx context.Context, rig *trial.Rig, repeat int, done func()) (e evaluation, err error) {
	e.Repeat = repeat
	times := make([]time.Duration, 0, repeat)
	var before, after runtime.MemStats
	for round := range min(rounds, repeat) {
		n := (round+1)*repeat/min(rounds, repeat) - len(times)
		runtime.ReadMemStats(&before)
		for range n {
			res, err := rig.Model.Evaluate(ctx, rig.Request)
			if err != nil {
				return e, err
			}
			times = append(times, res.Elapsed)
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
	return e, nil
}

// String is the evaluation as the report prints it.
func (e evaluation) String() string {
	if e.Repeat == 1 {
		return "evaluate " + cli.Brief(e.First)
	}
	copied := "copies unknown"
	if e.Copied != nil {
		copied = fmt.Sprintf("%d bytes copied", *e.Copied)
	}
	return fmt.Sprintf("evaluate %d times: min %s, p50 %s, p99 %s, %s, %d allocations each",
		e.Repeat, cli.Brief(e.Min), cli.Brief(e.P50), cli.Brief(e.P99), copied, *e.Allocs)
}
