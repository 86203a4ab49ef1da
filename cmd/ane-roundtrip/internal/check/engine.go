package check

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
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

// CheckEngine runs the checks on an engine, with a prefix before their names, and closes it.
func (c *CheckRun) CheckEngine(ctx context.Context, d *ane.Device, prefix string) (t EngineResult, err error) {
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
		err = step.Catch(func() { c.models(ctx, d, only, &t) })
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
	t.Checks = only.filter(append(t.Checks, trial.Compare(memoryClosed, float64(leaked), "blocks", trial.Within(0, 0),
		"%d surfaces and mappings are open after everything was closed", leaked)))
	for i, check := range t.Checks {
		if !strings.HasPrefix(check.Name, prefix) { // a guest's checks name their path
			t.Checks[i].Name = prefix + check.Name
		}
	}
	return t, nil
}

// models checks every model, then collects the evidence.
func (c *CheckRun) models(ctx context.Context, d *ane.Device, only selection, t *EngineResult) {
	all, checks := withReplay(t.Engine, step.Must(models.All()))
	t.Checks = checks
	bar := c.App.Progress(len(all) + 1)
	defer bar.Stop()
	sums := only.has(sumChecks()...)
	for _, m := range all {
		bar.Now(m.Name)
		if !sums && !only.has(trial.ModelChecks(m.Name)...) {
			continue
		}
		row, err := trial.Model(ctx, d, m, c.Repeat)
		t.after(m.Name)
		step.NoError(ctx.Err())
		if err != nil {
			row.Error = cli.ErrorText(err)
			t.Checks = append(t.Checks, trial.Judge(m.Name+runSuffix, false, 0, "", "%s", row.Error))
		}
		t.Rows = append(t.Rows, row)
		t.Checks = append(t.Checks, row.Checks...)
		bar.Done()
	}
	bar.Now("evidence")
	meter := trial.OwnMemory
	if c.inject == blindMeter {
		meter = trial.BlindMeter
	}
	_, _, remote := access.Traffic(d)
	evidence, err := trial.Make(ctx, trial.Evidence(d, remote, meter), only.has, nil)
	t.after("evidence")
	t.Checks = slices.Concat(t.Checks, evidence, t.sums())
	step.NoError(err)
}

// sums are the checks of all models together.
func (t *EngineResult) sums() []trial.Check {
	copied, unseen, strays, changed, ran := 0, 0, 0, 0, 0
	for _, row := range t.Rows {
		strays, changed = strays+row.Strays, changed+row.Changed
		switch {
		case row.Figures == nil:
		case row.Copied == nil:
			unseen, ran = unseen+1, ran+1
		default:
			copied, ran = copied+*row.Copied, ran+1
		}
	}
	sum := func(name string, bytes int, what string) trial.Check {
		if ran == 0 {
			return trial.Skipped(name, "no model ran")
		}
		return trial.Compare(name, float64(bytes), "bytes", trial.AtMost(0), "%d %s, in %s", bytes, what,
			cli.Counted(ran, "model", "models"))
	}
	checks := []trial.Check{sum(memoryCopies, copied, "tensor bytes were reached through a copy"),
		sum(memoryNeighbor, strays, "bytes changed after the end of tensors and in the cells around them"),
		sum(memoryInputs, changed, "bytes of inputs changed during evaluation")}
	if copied == 0 && unseen > 0 {
		checks[0] = trial.Skipped(memoryCopies, "the engine does not expose its mapping of the memory in %s",
			cli.Counted(unseen, "model", "models"))
	}
	return checks
}

// Injectable lists the faults of --inject that need no GPU.
func Injectable() []string { return append(Injections(), blindMeter) }

// Injections lists the faults that a check finds.
func Injections() []string {
	var names []string
	for _, fault := range faulty.Faults() {
		if !fault.SuiteOnly {
			names = append(names, fault.Name)
		}
	}
	return names
}

// Faults that wrap no engine.
const (
	// blindMeter is a measurement of memory that sees no copies: what it measures shows nothing.
	blindMeter = "blind-meter"
	// GPUCopy is a GPU that works on a copy of a Block.
	GPUCopy = "gpu-copy"
)

// injected returns the wrapper that injects the fault called name; nil for an empty name.
func injected(a *cli.App, name string) (wrap func(ane.Engine) ane.Engine, err error) {
	if name == "" {
		return nil, nil
	}
	fault, ok := faulty.ByName(name)
	what := map[string]string{GPUCopy: "the GPU works on a copy of each Block",
		blindMeter: "the measurement of memory sees no copies"}[name]
	switch {
	case what != "":
	case !ok || fault.SuiteOnly:
		return nil, cli.Badf("there is no fault %q to inject; %s", name, near.Choices(name, "choose one of", Injectable()))
	default:
		what = fault.What
		wrap = func(e ane.Engine) ane.Engine { return faulty.Wrap(e, fault) }
	}
	a.Injected = name
	a.Logf("injected fault: %s (%s)", name, what)
	return wrap, nil
}
