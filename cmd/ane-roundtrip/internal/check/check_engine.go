package check

import (
	"context"
	"errors"
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
	Receipt ane.Receipt
	prefix  string // before the names of the checks
	Rows    []trial.Report
	guests  []trial.GuestReport // of --wasm
	Checks  []trial.Check
	memory  []memoryPoint
}

// withPrefix puts prefix before the names of all checks.
func (t EngineResult) withPrefix(prefix string) EngineResult {
	t.prefix = prefix
	for i := range t.Checks {
		t.Checks[i].Name = prefix + t.Checks[i].Name
	}
	return t
}

// CheckEngine runs the checks on an engine and closes it.
func (c *CheckRun) CheckEngine(ctx context.Context, d *ane.Device) (t EngineResult, err error) {
	before := unimem.Live()
	t.Receipt = d.Receipt()
	memory := &memorySampler{start: time.Now(), all: []memoryPoint{}}
	memory.after("open")
	if c.wasm {
		err = t.runGuest(ctx, d, c.Repeat)
		memory.after("guest")
	} else {
		t.Rows, t.Checks, err = c.measure(ctx, d, memory)
	}
	err = errors.Join(err, d.Close())
	memory.after("close")
	t.memory = memory.all
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.Checks = append(t.Checks, trial.Judge(engineError, false, 0, "", "%s", cli.ErrorText(err)))
	}
	after := unimem.Live()
	leaked := after.Blocks - before.Blocks + after.Mappings - before.Mappings
	t.Checks = append(t.Checks, trial.Judge(memoryClosed, leaked == 0, float64(leaked), "blocks",
		"%d surfaces and mappings are open after everything was closed", leaked).Against(trial.Within(0, 0)))
	t.Checks = c.only.filter(t.Checks)
	return t, nil
}

// measure checks every model, then collects the evidence.
func (c *CheckRun) measure(ctx context.Context, d *ane.Device, memory *memorySampler) (rows []trial.Report,
	checks []trial.Check, err error) {
	rows = []trial.Report{}
	all, err := models.All()
	if err != nil {
		return rows, nil, err
	}
	all, checks = withReplay(d, all)
	bar := c.App.Progress(len(all) + 1)
	defer bar.Stop()
	copied, unseen, strays, changed, ran := 0, 0, 0, 0, 0
	sums := c.only.has(memoryCopies, memoryNeighbor, memoryInputs)
	for _, m := range all {
		bar.Now(m.Name)
		if !sums && !c.only.has(trial.ModelChecks(m.Name)...) {
			continue
		}
		row, err := trial.Model(ctx, d, m, c.Repeat)
		memory.after(m.Name)
		if ctx.Err() != nil {
			return rows, nil, ctx.Err()
		}
		if err != nil {
			row.Error = cli.ErrorText(err)
			checks = append(checks, trial.Judge(m.Name+runSuffix, false, 0, "", "%s", row.Error))
		} else {
			ran++
		}
		rows = append(rows, row)
		checks = append(checks, row.Checks...)
		strays, changed = strays+row.Strays, changed+row.Changed
		switch {
		case row.Copied != nil:
			copied += *row.Copied
		case row.Error == "":
			unseen++
		}
		bar.Done()
	}
	bar.Now("evidence")
	evidence, err := trial.Evidence(ctx, d, c.only.has, c.meter)
	memory.after("evidence")
	checks = append(checks, evidence...)
	for _, sum := range []struct {
		name  string
		bytes int
		what  string
	}{
		{memoryCopies, copied, "tensor bytes were reached through a copy"},
		{memoryNeighbor, strays, "bytes changed after the end of tensors and in the cells around them"},
		{memoryInputs, changed, "bytes of inputs changed during evaluation"},
	} {
		if ran == 0 {
			checks = append(checks, trial.Skipped(sum.name, "no model ran"))
			continue
		}
		if sum.name == memoryCopies && copied == 0 && unseen > 0 {
			checks = append(checks, trial.Skipped(sum.name, "the engine does not expose its mapping of the memory in %s",
				cli.Counted(unseen, "model", "models")))
			continue
		}
		checks = append(checks, trial.Judge(sum.name, sum.bytes == 0, float64(sum.bytes), "bytes",
			"%d %s, in %s", sum.bytes, sum.what, cli.Counted(ran, "model", "models")).Against(trial.AtMost(0)))
	}
	return rows, checks, err
}

// runGuest makes the checks of --wasm.
func (t *EngineResult) runGuest(ctx context.Context, d *ane.Device, iterations int) error {
	guest, checks, err := trial.Guest(ctx, d, iterations)
	t.Rows, t.guests, t.Checks = []trial.Report{}, []trial.GuestReport{guest}, checks
	return err
}

// memoryPoint is the memory after a step of the checks of an engine.
type memoryPoint struct {
	Step    string `json:"step"`
	At      int64  `json:"at_ns"`         // since the first step began
	Process *int64 `json:"process_bytes"` // of this process, shared pages divided by their processes; null if unknown
	Blocks  int64  `json:"block_bytes"`   // of open Blocks
}

// memorySampler records the memory of steps.
type memorySampler struct {
	start time.Time
	all   []memoryPoint
}

func (m *memorySampler) after(step string) {
	p := memoryPoint{Step: step, At: time.Since(m.start).Nanoseconds(), Blocks: unimem.Live().Bytes}
	if n, err := procmem.Proportional(); err == nil {
		p.Process = &n
	}
	m.all = append(m.all, p)
}
