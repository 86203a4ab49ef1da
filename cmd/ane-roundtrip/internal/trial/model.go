package trial

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
)

// Report is what Model found.
type Report struct {
	Name     string  `json:"name"`
	*Figures         // nil if the model did not run
	Error    string  `json:"error,omitempty"` // why it did not
	Checks   []Check `json:"-"`
	Strays   int     `json:"-"` // bytes that the engine wrote outside of every tensor
	Changed  int     `json:"-"` // bytes of inputs that an evaluation changed
}

// Figures are those of a model that ran.
type Figures struct {
	Compile  time.Duration `json:"compile_ns"`
	Load     time.Duration `json:"load_ns"`
	P50      time.Duration `json:"evaluate_p50_ns"`
	P99      time.Duration `json:"evaluate_p99_ns"`
	MaxError Number        `json:"max_error"`    // null if a value is NaN
	Copied   *int          `json:"bytes_copied"` // of tensors that the engine does not reach in place; null: not shown
	Latency  *Latency      `json:"latency,omitempty"`
	Surfaces []Surface     `json:"surfaces"`
}

// ModelChecks names the checks that Model makes of a model.
func ModelChecks(model string) []string { return []string{model + "/values", model + "/copies"} }

// Model runs one model. It checks the values of several inputs, times iterations evaluations, and checks the values of
// other inputs, written after them.
func Model(ctx context.Context, d *ane.Device, m models.Model, iterations int) (Report, error) {
	rep := Report{Name: m.Name}
	checks, err := Step{Run: func(t *T) { rep.measure(t, d, m, iterations) }}.Make(ctx)
	if rep.Checks = checks; err != nil {
		rep.Figures = nil
	}
	return rep, err
}

func (rep *Report) measure(t *T, d *ane.Device, m models.Model, iterations int) {
	r := t.rig(d, m)
	r.Paint()
	f := &Figures{Compile: r.Compile, Load: r.Load, Surfaces: r.Surfaces()}
	if copied, shown := r.Unshared(t.Ctx); shown {
		f.Copied = &copied
	}
	fault := ""
	values := func(seed uint64) {
		worst, bad, changed := r.round(m, seed)
		f.MaxError, rep.Changed, fault = max(f.MaxError, Number(worst)), rep.Changed+changed, cmp.Or(fault, bad)
	}
	for seed := range uint64(3) {
		values(seed)
	}
	times := make([]time.Duration, iterations)
	for i := range times {
		times[i] = Must(r.Request.Evaluate(t.Ctx)).Elapsed
	}
	values(99)
	slices.Sort(times)
	f.Latency = Histogram(times)
	f.P50, f.P99 = times[len(times)/2], times[len(times)*99/100]
	rep.Figures, rep.Strays = f, r.strays()

	allowed := m.Tolerance
	detail := fmt.Sprintf("allowed %.2g + %.2g of the value: %s", allowed.Abs, allowed.Rel, allowed.Reason)
	if fault != "" {
		detail = fault + "; " + detail
	}
	t.Add(Judge(m.Name+"/values", fault == "", float64(f.MaxError), "max abs error", "%s", detail).
		Against(Tolerance(allowed.Abs, allowed.Rel)))
	if f.Copied == nil {
		t.Add(Skipped(m.Name+"/copies", unexposed+"; see "+GrowthCheck))
		return
	}
	t.Add(Compare(m.Name+"/copies", float64(*f.Copied), "bytes", AtMost(0),
		"%d of %d tensor bytes are not reached in place by the engine", *f.Copied, r.bytes()))
}

// Latency is a histogram of times: Counts[i] of them are at least Edges[i] and below Edges[i+1]; the last count
// includes the last edge.
type Latency struct {
	Edges  []int64 `json:"edges_ns"` // one more than counts, increasing
	Counts []int   `json:"counts"`
}

// maxBins is the most bins of a Latency.
const maxBins = 24

// Histogram returns the histogram of sorted times, with edges that grow by a factor; nil of fewer than two times.
func Histogram(sorted []time.Duration) *Latency {
	if len(sorted) < 2 {
		return nil
	}
	low, high := max(1, sorted[0].Nanoseconds()), sorted[len(sorted)-1].Nanoseconds()
	bins := min(maxBins, max(1, int(2*math.Sqrt(float64(len(sorted))))))
	h := &Latency{Edges: []int64{low}}
	for i := 1; i < bins; i++ {
		edge := int64(math.Round(float64(low) * math.Pow(float64(high)/float64(low), float64(i)/float64(bins))))
		if edge > h.Edges[len(h.Edges)-1] && edge < high {
			h.Edges = append(h.Edges, edge)
		}
	}
	h.Edges = append(h.Edges, max(high, h.Edges[len(h.Edges)-1]+1))
	h.Counts = make([]int, len(h.Edges)-1)
	at := 0
	for _, t := range sorted {
		for at < len(h.Counts)-1 && t.Nanoseconds() >= h.Edges[at+1] {
			at++
		}
		h.Counts[at]++
	}
	return h
}
