package main

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// engineResult holds the receipt, figures and checks of one engine.
type engineResult struct {
	receipt ane.Receipt
	prefix  string // before the names of the checks
	rows    []trial.Report
	guests  []trial.GuestReport // of --wasm
	checks  []trial.Check
	memory  []memoryPoint
}

// withPrefix puts prefix before the names of all checks.
func (t engineResult) withPrefix(prefix string) engineResult {
	t.prefix = prefix
	for i := range t.checks {
		t.checks[i].Name = prefix + t.checks[i].Name
	}
	return t
}

// checkEngine runs the checks on an engine and closes it.
func (c *checkRun) checkEngine(ctx context.Context, d *ane.Device) (t engineResult, err error) {
	before := unimem.Live()
	t.receipt = d.Receipt()
	memory := &memorySampler{start: time.Now(), all: []memoryPoint{}}
	memory.after("open")
	if c.wasm {
		err = t.runGuest(ctx, d, c.repeat)
		memory.after("guest")
	} else {
		t.rows, t.checks, err = c.measure(ctx, d, memory)
	}
	err = errors.Join(err, d.Close())
	memory.after("close")
	t.memory = memory.all
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.checks = append(t.checks, trial.Judge(engineError, false, 0, "", "%s", textOf(err)))
	}
	after := unimem.Live()
	leaked := after.Blocks - before.Blocks + after.Mappings - before.Mappings
	t.checks = append(t.checks, trial.Judge(memoryClosed, leaked == 0, float64(leaked), "blocks",
		"%d surfaces and mappings are open after everything was closed", leaked).Against(trial.Within(0, 0)))
	t.checks = c.only.filter(t.checks)
	return t, nil
}

// measure checks every model, then collects the evidence.
func (c *checkRun) measure(ctx context.Context, d *ane.Device, memory *memorySampler) (rows []trial.Report,
	checks []trial.Check, err error) {
	rows = []trial.Report{}
	all, err := models.All()
	if err != nil {
		return rows, nil, err
	}
	all, checks = withReplay(d, all)
	bar := c.app.progress(len(all) + 1)
	defer bar.stop()
	copied, unseen, strays, changed, ran := 0, 0, 0, 0, 0
	sums := c.only.has(memoryCopies, memoryNeighbor, memoryInputs)
	for _, m := range all {
		bar.now(m.Name)
		if !sums && !c.only.has(trial.ModelChecks(m.Name)...) {
			continue
		}
		row, err := trial.Model(ctx, d, m, c.repeat)
		memory.after(m.Name)
		if ctx.Err() != nil {
			return rows, nil, ctx.Err()
		}
		if err != nil {
			row.Error = textOf(err)
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
		bar.done()
	}
	bar.now("evidence")
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
				counted(unseen, "model", "models")))
			continue
		}
		checks = append(checks, trial.Judge(sum.name, sum.bytes == 0, float64(sum.bytes), "bytes",
			"%d %s, in %s", sum.bytes, sum.what, counted(ran, "model", "models")).Against(trial.AtMost(0)))
	}
	return rows, checks, err
}

// runGuest makes the checks of --wasm.
func (t *engineResult) runGuest(ctx context.Context, d *ane.Device, iterations int) error {
	guest, checks, err := trial.Guest(ctx, d, iterations)
	t.rows, t.guests, t.checks = []trial.Report{}, []trial.GuestReport{guest}, checks
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
