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
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/decoderbench"
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
bench generate measures a language model, bench growth cost over size.

--report FILE writes the JSON object to FILE.json, or a page of it with plots of
times and throughput over the size to FILE.html; also on failure.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.BeginReport(cmd); err != nil {
				return err
			}
			return Run(a, cmd.Context(), Plan{Cases: membench.Cases(), Rounds: 5, Time: 60 * time.Millisecond,
				Sizes: []int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20}, Caches: []int{0, 2048}})
		},
	}
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	cmd.AddCommand(weightsCommand(a), generateCommand(a), growthCommand(a))
	return cmd
}

// reporting measures with the report of --report.
func reporting(a *cli.App, run func(*trial.T)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		if err := a.BeginReport(cmd); err != nil {
			return err
		}
		_, err := trial.Step{Run: run}.Make(cmd.Context())
		return err
	}
}

// Plan lists what bench measures, and for how long.
type Plan struct {
	Cases  []measure.Case
	Sizes  []int         // of Blocks, in bytes
	Rounds int           // of each case
	Time   time.Duration // of a round
	Caches []int         // tokens that caches of keys and values reserve; 0 for one that grows
}

// details are the fields that bench adds to the report.
type details struct {
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
	Modes     []decoderbench.Kept `json:"modes"`
	Published weightbench.Paper   `json:"published"`
}

// run holds the state of one run of bench.
type run struct {
	*cli.App
	plan   Plan
	bar    *cli.Progress
	found  details
	failed []string // steps that were skipped for another reason than a missing engine
}

// Run measures everything in plan and prints it, each row when it is there.
func Run(a *cli.App, ctx context.Context, plan Plan) error {
	b := &run{App: a, plan: plan, bar: a.Progress(0), found: details{Floors: membench.Floors, Operations: []measure.Row{},
		Sizes: []membench.Size{}}}
	defer b.bar.Stop()
	var r cli.Report
	checks, err := trial.Step{Run: func(t *trial.T) {
		d := trial.Must(a.OpenEngine(ctx, nil))
		t.Closing(d.Close)
		b.memory(t)
		b.blocks(t)
		b.evaluations(t, d)
		b.caches(t)
		r = cli.NewReport(d)
	}}.Make(ctx)
	if err != nil {
		return err
	}
	r.Checks, r.Details, r.View = append(r.Checks, checks...), b.found, View
	a.Deliver(r)
	if len(b.failed) > 0 {
		return fmt.Errorf("%s could not run: %s", cli.Counted(len(b.failed), "step", "steps"), strings.Join(b.failed, ", "))
	}
	return nil
}

// say prints text, without --json.
func (b *run) say(format string, args ...any) {
	if b.bar.Clear(); !b.JSON {
		trial.NoError(b.Printf(format, args...))
	}
}

// row prints a row of a table at once, without --json.
func (b *run) row(t *doc.Table, cells []doc.Cell) {
	if b.bar.Clear(); !b.JSON {
		t.Row(cells...)
		trial.NoError(t.Continue(b.Out, terminal.Width(b.Out)))
	}
}

// skip records a step that could not run, unless the reason is that the context ended.
func (b *run) skip(t *trial.T, step string, why error) {
	trial.NoError(t.Ctx.Err())
	b.found.Skipped = append(b.found.Skipped, skippedStep{step, cli.ErrorText(why)})
	if !errors.Is(why, ane.ErrUnavailable) {
		b.failed = append(b.failed, step)
	}
	b.say("%s: skipped: %s\n", step, cli.ErrorText(why))
}

// judge adds a target as a check, which does not fail: what misses it may be other programs on the machine.
func judge(t *trial.T, of measure.Target) {
	c := trial.Judge("bench/"+of.Name, true, of.Value, of.Unit, "%s", of.Detail()).Against(trial.AtMost(of.Most))
	if v := of.Verdict(); v == measure.FloorExceeds || v == measure.Missed {
		c.Status = trial.Skip
	}
	t.Add(c)
}

// measure measures a case and adds its checks. It returns nil for one that could not run.
func (b *run) measure(t *trial.T, c measure.Case) *measure.Row {
	b.bar.Now(c.What)
	r, err := c.Measure(t.Ctx, b.plan.Rounds, b.plan.Time)
	if err != nil {
		b.skip(t, c.What, err)
		return nil
	}
	for _, target := range r.Targets {
		judge(t, target)
	}
	return &r
}

// memory measures the operations of package unimem.
func (b *run) memory(t *trial.T) {
	w := operationTable()
	for _, c := range b.plan.Cases {
		w.Room(c.What, "000 ms", "", "000 ms", "0.000x")
	}
	for _, c := range b.plan.Cases {
		if r := b.measure(t, c); r != nil {
			b.found.Operations = append(b.found.Operations, *r)
			b.row(w, operationRow(doc.Of(r)))
		}
	}
	b.say("\nFloors of Blocks: %s;\nof Tape and Grid: the bare atomic loop; of the write: the same loop on a Go "+
		"slice.\nPublished: for Apple silicon, by the specification of unimem; in parentheses the\nfigure of "+
		"mimalloc.\n\n", membench.Floors)
}

// blocks measures Blocks of several sizes.
func (b *run) blocks(t *trial.T) {
	w := doc.NewTable("", "Size", "Block", "Measured", "Floor", "Ratio", ">Published")
	w.Room("256 MiB", "first touch of 16 KiB", "00.0 GB/s", "00.0 GB/s", "0.000x")
	for _, n := range b.plan.Sizes {
		step := "a Block of " + measure.BytesText(n)
		b.bar.Now(step)
		s, err := membench.MeasureSize(t.Ctx, n)
		if err != nil {
			b.skip(t, step, err)
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
			b.row(w, append(cells, doc.Words("%s", published[p.key])))
		}
	}
	b.say("\n")
}

// evaluations measures evaluations on d, or on a broker if no flag names an engine.
func (b *run) evaluations(t *trial.T, d *ane.Device) {
	if b.Engine == engine.Auto && b.Socket == "" {
		opts, err := b.Arithmetic(engine.Broker)
		if err == nil {
			d, err = engine.Open(t.Ctx, engine.Broker, opts...)
		}
		if err != nil {
			b.skip(t, "Evaluate in another process", err)
			return
		}
		t.Closing(d.Close)
	}
	e := &evaluated{Engine: d.Receipt().Engine}
	w := evaluationTable(e.Engine)
	w.Room("", "000 us", "000 us", "000 us", "0.000x")
	for i, c := range tripbench.Cases(d) {
		r := b.measure(t, c)
		if r == nil {
			return
		}
		floor := int64(math.Round(r.Floor))
		if i == 0 || floor < e.Floor {
			e.Floor = floor
		}
		one := trip{tripbench.Sizes()[i], int64(math.Round(r.Measured)), int64(math.Round(r.P99)), r.Ratio, r.Spread,
			r.Target, r.Allocs, r.Missed}
		e.Trips = append(e.Trips, one)
		b.row(w, evaluationRow(doc.Of(struct {
			trip
			Floor int64 `json:"floor_ns"`
		}{one, floor})))
	}
	e.Largest = float64(e.Trips[len(e.Trips)-1].P50) / float64(e.Trips[0].P50)
	largest := measure.Target{Name: "Evaluate/largest-to-smallest", What: "Evaluate, largest to smallest tensor", Unit: "x",
		Value: e.Largest, Rounds: []float64{e.Largest}, Most: tripbench.MaxSpread}
	judge(t, largest)
	b.found.Evaluate = e
	b.say("%s\np50: of the best turn; p99: of all calls. Floor: two processes that wake each\nother through eventfds.\n\n",
		largest.Detail())
}

// caches fills caches of keys and values, and records their memory.
func (b *run) caches(t *trial.T) {
	const step = "keys and values"
	b.bar.Now(step)
	modes, err := decoderbench.Reserve(t.Ctx, b.plan.Caches...)
	if err != nil {
		b.skip(t, step, err)
	} else if len(modes) > 0 {
		b.found.Cache = &cacheMemory{modes, weightbench.Paper{Reserve: weightbench.Published().Reserve}}
	}
}
