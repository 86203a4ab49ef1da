package run

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/modes"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/timeline"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// details are the fields that run adds to the report.
type details struct {
	Tensors     []tensorRow      `json:"tensors"`
	Compile     time.Duration    `json:"compile_ns"`
	Load        time.Duration    `json:"load_ns"`
	Evaluate    evaluation       `json:"evaluate"`
	Notes       []string         `json:"notes,omitempty"`        // conversions of the files of --expect
	MadeWeights []string         `json:"made_weights,omitempty"` // files that were missing and filled by --fill-weights
	Compare     *modes.Report    `json:"compare,omitempty"`      // of --compare
	Surfaces    []trial.Surface  `json:"surfaces"`
	Timeline    *timeline.Record `json:"timeline,omitempty"` // with --report or --trace
}

// tensorRow describes one tensor of a run.
type tensorRow struct {
	Name     string       `json:"name"`
	Side     string       `json:"side"` // input or output
	DType    string       `json:"dtype"`
	Shape    []int        `json:"shape"`
	File     string       `json:"file,omitempty"`
	Min      trial.Number `json:"min"` // null if the tensor has no finite least value
	Max      trial.Number `json:"max"`
	NaN      int          `json:"nan"`
	Infinite int          `json:"infinite"`
	Copied   int          `json:"bytes_copied"` // between the file's dense array and the tensor's rows
	Notes    []string     `json:"notes,omitempty"`
}

// describe adds the row of a tensor with dense data: least and largest value, and the counts of infinities and NaN.
func (j *job) describe(r tensorRow, l ane.Layout, data []byte) {
	r.Name, r.DType, r.Shape = l.Name, l.DType.String(), l.Shape
	r.Min, r.Max = trial.Number(math.Inf(1)), trial.Number(math.Inf(-1))
	size := l.DType.Size()
	for at := 0; at < len(data); at += size {
		v := element.Load(l.DType, data[at:])
		if math.IsNaN(v) {
			r.NaN++
			continue
		}
		if math.IsInf(v, 0) {
			r.Infinite++
		}
		r.Min, r.Max = min(r.Min, trial.Number(v)), max(r.Max, trial.Number(v))
	}
	j.found.Tensors = append(j.found.Tensors, r)
}

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

// rounds is how often measure counts allocations. It reports the round with the fewest, since the
// runtime and the progress bar allocate too.
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

// report delivers the report and returns an error if an output differs from --expect.
func (j *job) report() error {
	receipt := j.rig.Model.Receipt()
	notes := slices.Clone(receipt.Notes)
	for _, r := range j.found.Tensors {
		notes = append(notes, r.Notes...)
	}
	notes = append(notes, j.found.Notes...)
	for _, path := range j.weights.Made {
		notes = append(notes, fmt.Sprintf("%s is missing; --fill-weights %s filled it", path, j.fillWeights))
	}
	j.Notes(notes)
	j.found.Compile, j.found.Load, j.found.Surfaces = j.rig.Compile, j.rig.Load, j.rig.Surfaces()
	j.found.MadeWeights = j.weights.Made
	r := cli.NewReport(nil)
	r.SetEngine(&receipt)
	r.Checks = append(r.Checks, j.checks...)
	r.Details, r.View = j.found, View
	failed := r.Judge()
	j.Deliver(r)
	return failed
}
