package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
)

// Report holds the figures and checks of Model.
type Report struct {
	Name     string        `json:"name"`
	Compile  time.Duration `json:"compile_ns"`
	Load     time.Duration `json:"load_ns"`
	P50      time.Duration `json:"evaluate_p50_ns"`
	P99      time.Duration `json:"evaluate_p99_ns"`
	MaxError Number        `json:"max_error"`    // null if a value is NaN
	Copied   *int          `json:"bytes_copied"` // of tensors that the engine does not reach in place; null: not shown
	Latency  *Latency      `json:"latency,omitempty"`
	Surfaces []Surface     `json:"surfaces"`
	Error    string        `json:"-"` // why the model did not run; the figures are then zero
	Checks   []Check       `json:"-"`
	Strays   int           `json:"-"` // bytes that the engine wrote outside of every tensor
	Changed  int           `json:"-"` // bytes of inputs that an evaluation changed
}

// MarshalJSON encodes the figures or, if the model did not run, the reason.
func (r Report) MarshalJSON() ([]byte, error) {
	if r.Error != "" {
		return json.Marshal(struct {
			Name  string `json:"name"`
			Error string `json:"error"`
		}{r.Name, r.Error})
	}
	type figures Report
	return json.Marshal(figures(r))
}

// ModelChecks names the checks that Model makes of a model.
func ModelChecks(model string) []string { return []string{model + "/values", model + "/copies"} }

// Model runs one model: it checks the values of several inputs, times iterations evaluations, and checks
// the values of other inputs, written after the timed evaluations.
func Model(ctx context.Context, d *ane.Device, m models.Model, iterations int) (rep Report, err error) {
	rep.Name = m.Name
	r, err := modelRig(ctx, d, m)
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	r.Paint()
	rep.Compile, rep.Load, rep.Surfaces = r.Compile, r.Load, r.Surfaces()

	if copied, shown := r.Unshared(ctx); shown {
		rep.Copied = &copied
	}
	fault := ""
	values := func(seed uint64) error {
		in, err := r.Fill(m, seed)
		if err != nil {
			return err
		}
		before := r.Snapshot()
		if _, err := r.Model.Evaluate(ctx, r.Request); err != nil {
			return err
		}
		worst, bad, err := r.Compare(m, in)
		rep.MaxError = max(rep.MaxError, Number(worst))
		if fault == "" {
			fault = bad
		}
		rep.Changed += r.changed(before)
		return err
	}
	for seed := range uint64(3) {
		if err := values(seed); err != nil {
			return rep, err
		}
	}
	times := make([]time.Duration, iterations)
	for i := range times {
		res, err := r.Model.Evaluate(ctx, r.Request)
		if err != nil {
			return rep, err
		}
		times[i] = res.Elapsed
	}
	if err := values(99); err != nil {
		return rep, err
	}
	slices.Sort(times)
	rep.Latency = Histogram(times)
	rep.P50, rep.P99 = times[len(times)/2], times[len(times)*99/100]
	rep.Strays = r.Strays()

	t := m.Tolerance
	detail := fmt.Sprintf("allowed %.2g + %.2g of the value: %s", t.Abs, t.Rel, t.Reason)
	if fault != "" {
		detail = fault + "; " + detail
	}
	rep.Checks = append(rep.Checks, Judge(m.Name+"/values", fault == "", float64(rep.MaxError), "max abs error", "%s",
		detail).
		Against(Tolerance(t.Abs, t.Rel)))
	if n := rep.Copied; n != nil {
		rep.Checks = append(rep.Checks, Judge(m.Name+"/copies", *n == 0, float64(*n), "bytes",
			"%d of %d tensor bytes are not reached in place by the engine", *n, r.TensorBytes()).Against(AtMost(0)))
	} else {
		rep.Checks = append(rep.Checks,
			Skipped(m.Name+"/copies", "the engine does not expose its mapping of the memory; see memory/growth"))
	}
	return rep, nil
}

// changed counts the input bytes that differ from a snapshot.
func (r *Rig) changed(before map[string][]byte) int {
	n := 0
	for name, t := range r.In {
		for i, b := range t.Bytes() {
			if b != before[name][i] {
				n++
			}
		}
	}
	return n
}
