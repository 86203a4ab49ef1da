package check

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// EngineResult holds the receipt, figures and checks of one engine.
type EngineResult struct {
	Engine string         `json:"engine"`
	Rows   []trial.Report `json:"models"`
	Memory []memoryPoint  `json:"memory"`

	Receipt ane.Receipt   `json:"-"`
	Checks  []trial.Check `json:"-"`
	prefix  string        // before the names of the checks
	guests  []trial.GuestReport
	start   time.Time
}

// full puts the prefix before a name, unless it has it.
func (t *EngineResult) full(name string) string { return t.prefix + strings.TrimPrefix(name, t.prefix) }

// memoryPoint is the memory after a step of the checks of an engine.
type memoryPoint struct {
	Step    string `json:"step"`
	At      int64  `json:"at_ns"`         // since the first step began
	Process *int64 `json:"process_bytes"` // of this process, shared pages divided by their processes; null if unknown
	Blocks  int64  `json:"block_bytes"`   // of open Blocks
}

// after records the memory after a step.
func (t *EngineResult) after(step string) {
	p := memoryPoint{Step: step, At: time.Since(t.start).Nanoseconds(), Blocks: unimem.Live().Bytes}
	if n, err := procmem.Proportional(); err == nil {
		p.Process = &n
	}
	t.Memory = append(t.Memory, p)
}

// CheckEngine runs the checks on an engine and closes it.
func (c *CheckRun) CheckEngine(ctx context.Context, d *ane.Device) (EngineResult, error) {
	return c.engine(ctx, d, "")
}

// engine is CheckEngine with a prefix before the names of the checks.
func (c *CheckRun) engine(ctx context.Context, d *ane.Device, prefix string) (t EngineResult, err error) {
	before := unimem.Live()
	t = EngineResult{Receipt: d.Receipt(), Engine: d.Receipt().Engine, Rows: []trial.Report{}, prefix: prefix,
		start: time.Now()}
	only := selection{c.only.pattern, prefix}
	t.after("open")
	if c.wasm {
		t.guests = make([]trial.GuestReport, 1)
		t.guests[0], t.Checks, err = trial.Guest(ctx, d, c.Repeat)
		t.after("guest")
	} else {
		err = c.models(ctx, d, only, &t)
	}
	err = errors.Join(err, d.Close())
	t.after("close")
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.Checks = append(t.Checks, trial.Judge(engineError, false, 0, "", "%s", cli.ErrorText(err)))
	}
	after := unimem.Live()
	leaked := after.Blocks - before.Blocks + after.Mappings - before.Mappings
	t.Checks = only.filter(append(t.Checks, trial.Judge(memoryClosed, leaked == 0, float64(leaked), "blocks",
		"%d surfaces and mappings are open after everything was closed", leaked).Against(trial.Within(0, 0))))
	for i := range t.Checks {
		t.Checks[i].Name = t.full(t.Checks[i].Name)
	}
	return t, nil
}

// models checks every model, then collects the evidence.
func (c *CheckRun) models(ctx context.Context, d *ane.Device, only selection, t *EngineResult) error {
	all, err := models.All()
	if err != nil {
		return err
	}
	all, t.Checks = withReplay(t.Engine, all)
	bar := c.App.Progress(len(all) + 1)
	defer bar.Stop()
	copied, unseen, strays, changed, ran := 0, 0, 0, 0, 0
	sums := only.has(memoryCopies, memoryNeighbor, memoryInputs)
	for _, m := range all {
		bar.Now(m.Name)
		if !sums && !only.has(trial.ModelChecks(m.Name)...) {
			continue
		}
		row, err := trial.Model(ctx, d, m, c.Repeat)
		t.after(m.Name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		strays, changed = strays+row.Strays, changed+row.Changed
		switch {
		case err != nil:
			row.Error = cli.ErrorText(err)
			t.Checks = append(t.Checks, trial.Judge(m.Name+runSuffix, false, 0, "", "%s", row.Error))
		case row.Copied == nil:
			unseen, ran = unseen+1, ran+1
		default:
			copied, ran = copied+*row.Copied, ran+1
		}
		t.Rows = append(t.Rows, row)
		t.Checks = append(t.Checks, row.Checks...)
		bar.Done()
	}
	bar.Now("evidence")
	evidence, err := trial.Evidence(ctx, d, only.has, c.meter)
	t.after("evidence")
	t.Checks = append(t.Checks, evidence...)
	for _, sum := range []struct {
		name  string
		bytes int
		what  string
	}{
		{memoryCopies, copied, "tensor bytes were reached through a copy"},
		{memoryNeighbor, strays, "bytes changed after the end of tensors and in the cells around them"},
		{memoryInputs, changed, "bytes of inputs changed during evaluation"},
	} {
		check := trial.Judge(sum.name, sum.bytes == 0, float64(sum.bytes), "bytes", "%d %s, in %s", sum.bytes, sum.what,
			cli.Counted(ran, "model", "models")).Against(trial.AtMost(0))
		switch {
		case ran == 0:
			check = trial.Skipped(sum.name, "no model ran")
		case sum.name == memoryCopies && copied == 0 && unseen > 0:
			check = trial.Skipped(sum.name, "the engine does not expose its mapping of the memory in %s",
				cli.Counted(unseen, "model", "models"))
		}
		t.Checks = append(t.Checks, check)
	}
	return err
}
