package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/tripbench"
	"github.com/anekit/anekit/internal/weightbench"
)

// Command returns the command bench.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure memory operations and evaluations",
		Long: `bench measures memory operations, then evaluations on the engine that --engine
names, or on a broker in another process. It compares each figure with its
floor, the shortest code that does the same work, measured in the same round,
and prints it at once.

A figure misses its target if it exceeds it by more than the spread of the
rounds; a time with a ratio to its floor only if the ratio misses its target
too, since a loaded machine slows both. The table shows a miss; on a busy
machine it means little, so the check is then skipped and no failure. bench
skips a step that cannot run and prints the reason. The verdict is fail if a
step was skipped for another reason than an engine that is not available.

Last, bench plots the memory of caches of keys and values over the tokens, flat
for a reserved one and a staircase for one that grows, beside published figures.
bench generate measures a language model.

--report FILE writes the JSON object to FILE.json, or a page of it with plots of
times and throughput over the size to FILE.html; also on failure.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd); err != nil {
				return err
			}
			return Bench(a, cmd.Context(), BenchPlan{Cases: membench.Cases(), Rounds: 5, Time: 60 * time.Millisecond,
				Sizes: []int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20}, Caches: []int{0, 2048}})
		},
	}
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	cmd.AddCommand(benchWeightsCommand(a), benchGenerateCommand(a))
	return cmd
}

// BenchPlan lists what bench measures, and for how long.
type BenchPlan struct {
	Cases  []measure.Case
	Sizes  []int         // of Blocks, in bytes
	Rounds int           // of each case
	Time   time.Duration // of a round
	Caches []int         // tokens that caches of keys and values reserve; 0 for one that grows
}

// benchDetails are the fields that bench adds to the report.
type benchDetails struct {
	Floors     string          `json:"floors"` // how this system measures the floors of Blocks
	Operations []measure.Row   `json:"operations"`
	Sizes      []membench.Size `json:"sizes"`
	Evaluate   *evaluated      `json:"evaluate,omitempty"`
	Cache      *cacheMemory    `json:"cache,omitempty"`
	Skipped    []skippedStep   `json:"skipped,omitempty"`
}

// skippedStep is a step that could not run.
type skippedStep struct {
	Step   string `json:"step"`
	Reason string `json:"reason"`
}

// evaluated holds evaluations with their floor, the time in which two processes wake each other.
type evaluated struct {
	Engine  string  `json:"engine"`
	Floor   int64   `json:"floor_p50_ns"`
	Trips   []trip  `json:"trips"`
	Largest float64 `json:"largest_to_smallest"` // p50 of the largest tensor to that of the smallest
}

// trip holds the times of a program that reads one row of its input.
type trip struct {
	Bytes  int     `json:"tensor_bytes"`
	P50    int64   `json:"p50_ns"`
	P99    int64   `json:"p99_ns"`
	Ratio  float64 `json:"ratio"`
	Spread float64 `json:"ratio_spread"` // of the rounds
	Target string  `json:"target"`
	Allocs int64   `json:"allocs_per_op"`
	Missed string  `json:"missed,omitempty"`
}

// cacheMemory is the memory of a cache of keys and values that grows, and of one that is reserved.
type cacheMemory struct {
	Modes     []weightbench.Kept `json:"modes"`
	Published weightbench.Paper  `json:"published"`
}

// benchRun holds the state of one run of bench.
type benchRun struct {
	*cli.App
	plan   BenchPlan
	bar    *cli.Progress
	found  benchDetails
	checks []trial.Check
	failed []string // steps that were skipped for another reason than a missing engine
}

// Bench measures everything in plan and prints it, each row when it is there.
func Bench(a *cli.App, ctx context.Context, plan BenchPlan) error {
	d, err := a.OpenEngine(ctx, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	b := &benchRun{App: a, plan: plan, bar: a.Progress(0), checks: []trial.Check{}, found: benchDetails{
		Floors: membench.Floors, Operations: []measure.Row{}, Sizes: []membench.Size{}}}
	defer b.bar.Stop()
	for _, step := range []func(context.Context) error{b.memory, b.blocks,
		func(ctx context.Context) error { return b.evaluations(ctx, d) }, b.caches} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	r := cli.NewReport(d)
	r.Checks, r.Details, r.View = b.checks, b.found, View
	if len(b.failed) > 0 {
		err = fmt.Errorf("%s could not run: %s", cli.Counted(len(b.failed), "step", "steps"), strings.Join(b.failed, ", "))
	}
	a.Deliver(r)
	return err
}

// say prints text, without --json.
func (b *benchRun) say(format string, args ...any) error {
	if b.JSON {
		return nil
	}
	b.bar.Clear()
	return b.Printf(format, args...)
}

// row prints a row of a table at once, without --json.
func (b *benchRun) row(t *doc.Table, cells []doc.Cell) error {
	if b.JSON {
		return nil
	}
	t.Row(cells...)
	b.bar.Clear()
	return t.Continue(b.Out, page.Width(b.Out))
}

// skip records a step that could not run. It returns an error if the reason is that ctx ended.
func (b *benchRun) skip(ctx context.Context, step string, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.found.Skipped = append(b.found.Skipped, skippedStep{step, cli.ErrorText(why)})
	if !errors.Is(why, ane.ErrUnavailable) {
		b.failed = append(b.failed, step)
	}
	return b.say("%s: skipped: %s\n", step, cli.ErrorText(why))
}

// judge adds a target as a check, which does not fail: what misses it may be other programs on the machine.
func (b *benchRun) judge(t measure.Target) {
	c := trial.Judge("bench/"+t.Name, true, t.Value, t.Unit, "%s", t.Detail()).Against(trial.AtMost(t.Most))
	if v := t.Verdict(); v == measure.FloorExceeds || v == measure.Missed {
		c.Status = trial.Skip
	}
	b.checks = append(b.checks, c)
}

// measure measures a case and adds its checks. It returns nil for one that could not run.
func (b *benchRun) measure(ctx context.Context, c measure.Case) (*measure.Row, error) {
	b.bar.Now(c.What)
	r, err := c.Measure(ctx, b.plan.Rounds, b.plan.Time)
	if err != nil {
		return nil, b.skip(ctx, c.What, err)
	}
	for _, t := range r.Targets {
		b.judge(t)
	}
	return &r, nil
}

// memory measures the operations of package unimem.
func (b *benchRun) memory(ctx context.Context) error {
	t := operationTable()
	for _, c := range b.plan.Cases {
		t.Room(c.What, "000 ms", "", "000 ms", "0.000x", "0.000")
	}
	for _, c := range b.plan.Cases {
		r, err := b.measure(ctx, c)
		if r != nil {
			b.found.Operations = append(b.found.Operations, *r)
			err = b.row(t, operationRow(doc.Of(r)))
		}
		if err != nil {
			return err
		}
	}
	return b.say("\nFloors of Blocks: %s;\nof Tape and Grid: the bare atomic loop; of the write: the same loop on a Go "+
		"slice.\nPublished: for Apple silicon, by the specification of unimem; in parentheses the\nfigure of "+
		"mimalloc.\n\n", membench.Floors)
}

// blocks measures Blocks of several sizes.
func (b *benchRun) blocks(ctx context.Context) error {
	t := doc.NewTable("", "Size", "Block", "Measured", "Floor", "Ratio", ">Published")
	t.Room("256 MiB", "first touch of 16 KiB", "00.0 GB/s", "00.0 GB/s", "0.000x")
	for _, n := range b.plan.Sizes {
		step := "a Block of " + measure.BytesText(n)
		b.bar.Now(step)
		s, err := membench.MeasureSize(ctx, n)
		if err != nil {
			if err := b.skip(ctx, step, err); err != nil {
				return err
			}
			continue
		}
		b.found.Sizes = append(b.found.Sizes, s)
		published := map[string]string{}
		if all := strings.Split(s.Published, ", "); len(all) == 3 {
			published = map[string]string{"open": all[0], "write": all[1] + " GB/s", "read": all[2]}
		}
		size := doc.Of(s)
		for _, p := range phases() {
			cells := append([]doc.Cell{size.Size("bytes"), doc.Words("%s", p.name)}, p.cells(size)...)
			if err := b.row(t, append(cells, doc.Words("%s", published[p.key]))); err != nil {
				return err
			}
		}
	}
	return b.say("\n")
}

// evaluations measures evaluations on d, or on a broker if no flag names an engine.
func (b *benchRun) evaluations(ctx context.Context, d *ane.Device) (err error) {
	if b.Engine == engine.Auto && b.Socket == "" {
		var opts []engine.Option
		if opts, err = b.Arithmetic(engine.Broker); err == nil {
			d, err = engine.Open(ctx, engine.Broker, opts...)
		}
		if err != nil {
			return b.skip(ctx, "Evaluate in another process", err)
		}
		defer func() { err = errors.Join(err, d.Close()) }()
	}
	e := &evaluated{Engine: d.Receipt().Engine}
	w := evaluationTable(e.Engine)
	w.Room("", "000 us", "000 us", "000 us", "0.000x", "0.000")
	for i, c := range tripbench.Cases(d) {
		r, err := b.measure(ctx, c)
		if r == nil || err != nil {
			return err
		}
		floor := int64(math.Round(r.Floor))
		if i == 0 || floor < e.Floor {
			e.Floor = floor
		}
		one := trip{tripbench.Sizes()[i], int64(math.Round(r.Measured)), int64(math.Round(r.P99)), r.Ratio, r.Spread,
			r.Target, r.Allocs, r.Missed}
		e.Trips = append(e.Trips, one)
		if err := b.row(w, evaluationRow(doc.Of(struct {
			trip
			Floor int64 `json:"floor_ns"`
		}{one, floor}))); err != nil {
			return err
		}
	}
	e.Largest = float64(e.Trips[len(e.Trips)-1].P50) / float64(e.Trips[0].P50)
	t := measure.Target{Name: "Evaluate/largest-to-smallest", What: "Evaluate, largest to smallest tensor", Unit: "x",
		Value: e.Largest, Rounds: []float64{e.Largest}, Most: tripbench.MaxSpread}
	b.judge(t)
	b.found.Evaluate = e
	return b.say("%s\np50: of the best turn; p99: of all calls. Floor: two processes that wake each\nother through "+
		"eventfds.\n\n", t.Detail())
}

// caches fills caches of keys and values, and records their memory.
func (b *benchRun) caches(ctx context.Context) error {
	const step = "keys and values"
	b.bar.Now(step)
	modes, err := weightbench.Reserve(ctx, b.plan.Caches...)
	if err != nil {
		return b.skip(ctx, step, err)
	}
	if len(modes) > 0 {
		b.found.Cache = &cacheMemory{modes, weightbench.Paper{Reserve: weightbench.Published().Reserve}}
	}
	return nil
}
