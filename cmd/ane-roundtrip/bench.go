package main

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
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/tripbench"
	"github.com/anekit/anekit/internal/weightbench"
	"github.com/anekit/anekit/models/decoder"
)

func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure memory operations and evaluations",
		Long: `bench measures memory operations, then evaluations on the engine that --engine
names, or on a broker in another process. It compares each figure with its
floor, the shortest code that does the same work, measured in the same round.

A figure misses its target if it exceeds it by more than the spread of the
rounds; a time with a ratio to its floor only if the ratio misses its target
too, since a loaded machine slows both. The check of a time is skipped if the
time exceeds the target and the floor alone does. bench skips a step that
cannot run and prints the reason. The verdict is fail if a figure misses its
target, or if a step was skipped for another reason than an engine that is not
available.

Then bench plots the memory of caches of keys and values over the tokens, flat
for a reserved one and a staircase for one that grows, beside published figures.
Last it measures a language model as bench generate --restore 24,256 --rounds 1
does, which needs 700 MB for files, and a minute.

--report FILE writes the JSON object to FILE.json, or a page of it with plots of
times and throughput over the size to FILE.html; also on failure.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.beginReport(cmd, &commandFiles{app: a}); err != nil {
				return err
			}
			return a.bench(cmd.Context(), wholeBench())
		},
	}
	a.reportFlag(cmd)
	a.saveFlag(cmd)
	a.engineFlags(cmd)
	a.numericsFlag(cmd)
	a.emulateFlag(cmd)
	cmd.AddCommand(a.benchWeightsCommand(), a.benchGenerateCommand())
	return cmd
}

// benchPlan lists what bench measures, and for how long.
type benchPlan struct {
	cases  []membench.Case
	sizes  []int         // of Blocks, in bytes
	rounds int           // of each case
	time   time.Duration // of a round
	caches []int         // tokens that caches of keys and values reserve; 0 for one that grows
	model  *benchGenerateOptions
}

func wholeBench() benchPlan {
	return benchPlan{cases: membench.Cases(), sizes: []int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20},
		rounds: 5, time: 60 * time.Millisecond, caches: []int{0, 2048},
		model: &benchGenerateOptions{size: "llama-3.2-1b", form: decoder.Compact.String(), restore: "24,256",
			prompt: 256, steps: 16, rounds: 1}}
}

// benchRun holds the state of one run of bench.
type benchRun struct {
	plan     benchPlan
	progress func(string)
	found    benchDetails
	targets  []target
	failed   []string // steps that were skipped for another reason than a missing engine
}

// bench measures everything in plan and prints the report.
func (a *app) bench(ctx context.Context, plan benchPlan) error {
	d, err := a.open(ctx, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	bar := a.progress(0)
	defer bar.stop()
	b := &benchRun{plan: plan, progress: bar.now}
	if err := b.memory(ctx); err != nil {
		return err
	}
	if err := b.blocks(ctx); err != nil {
		return err
	}
	if err := b.evaluations(ctx, a, d); err != nil {
		return err
	}
	if err := b.caches(ctx); err != nil {
		return err
	}
	if err := b.language(ctx, a, d); err != nil {
		return err
	}
	bar.stop()
	r := newReport(d)
	for _, t := range b.targets {
		r.Checks = append(r.Checks, t.check())
	}
	r.Details = b.found
	err = r.judge()
	if len(b.failed) > 0 {
		err = errors.Join(err, fmt.Errorf("%s could not run: %s", counted(len(b.failed), "step", "steps"),
			strings.Join(b.failed, ", ")))
	}
	a.deliver(r)
	if a.json {
		return err
	}
	return errors.Join(b.print(a, r, err == nil), err)
}

// skip records a step that could not run. It returns an error if the reason is that ctx ended.
func (b *benchRun) skip(ctx context.Context, step string, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.found.Skipped = append(b.found.Skipped, skippedStep{step, textOf(why)})
	if !errors.Is(why, ane.ErrUnavailable) {
		b.failed = append(b.failed, step)
	}
	return nil
}

// memory measures the operations of package unimem.
func (b *benchRun) memory(ctx context.Context) error {
	b.found.Operations = []operation{}
	for _, c := range b.plan.cases {
		b.progress(c.Operation)
		o := operation{Name: c.Name, Operation: c.Operation, Target: c.Target, Published: c.Published}
		var ratio, value figure
		var fault error
		floor := math.Inf(1)
		for range b.plan.rounds {
			r, err := membench.Measure(ctx, membench.Plan{Cases: []membench.Case{c}, Sizes: []int{}, Rounds: 1,
				Time: b.plan.time})
			if err == nil && r.Operations[0].Skipped != "" {
				err = errors.New(r.Operations[0].Skipped)
			}
			if fault = err; fault != nil {
				break
			}
			one := r.Operations[0]
			ratio.add(one.Measured.Ratio)
			value.add(one.Measured.Value)
			floor = min(floor, one.Measured.Floor)
			o.Allocs, o.Bytes = one.Allocs, one.Bytes
			b.found.Floors = r.Floors
		}
		if fault != nil {
			if err := b.skip(ctx, c.Operation, fault); err != nil {
				return err
			}
			continue
		}
		ratio.value = value.value / floor
		o.Measured, o.Floor, o.Ratio, o.Spread = value.value, floor, ratio.value, ratio.spread()
		if c.Bytes > 0 {
			o.Throughput = int64(float64(c.Bytes) / value.value * 1e9)
		}
		var byRatio *target
		if c.MaxRatio > 0 {
			byRatio = &target{name: c.Name + "/ratio", what: c.Operation, unit: "x", figure: ratio, most: c.MaxRatio}
			b.targets = append(b.targets, *byRatio)
		}
		if c.MaxNs > 0 {
			t := target{name: c.Name + "/time", what: c.Operation, unit: "ns", figure: value, most: c.MaxNs,
				ratio: byRatio}
			if floor >= c.MaxNs {
				t.unreachable = fmt.Sprintf("the floor alone takes %s", membench.TimeText(floor))
			}
			b.targets = append(b.targets, t)
		}
		o.Missed = b.missed(c.Name)
		b.found.Operations = append(b.found.Operations, o)
	}
	return nil
}

// missed returns the worst verdict of the targets of a case.
func (b *benchRun) missed(name string) string {
	text := ""
	for _, t := range b.targets {
		if t.name == name+"/ratio" || t.name == name+"/time" {
			text = worse(text, t.verdict())
		}
	}
	return text
}

// blocks measures Blocks of several sizes.
func (b *benchRun) blocks(ctx context.Context) error {
	b.found.Sizes = []blockSize{}
	for _, n := range b.plan.sizes {
		step := "a Block of " + membench.BytesText(n)
		b.progress(step)
		r, err := membench.Measure(ctx, membench.Plan{Cases: []membench.Case{}, Sizes: []int{n}, Time: b.plan.time})
		if err != nil {
			if err := b.skip(ctx, step, err); err != nil {
				return err
			}
			continue
		}
		b.found.Sizes = append(b.found.Sizes, sizeOf(r.Sizes[0]))
	}
	return nil
}

// caches fills caches of keys and values, and records their memory.
func (b *benchRun) caches(ctx context.Context) error {
	const step = "keys and values"
	found := &cacheMemory{Published: publishedFigures{Reserve: weightbench.Reservations()}}
	for _, tokens := range b.plan.caches {
		b.progress(step)
		k, err := weightbench.Reserve(tokens)
		if err != nil || ctx.Err() != nil {
			return b.skip(ctx, step, err)
		}
		if len(found.Modes) > 0 {
			k.Delta = k.Bytes - found.Modes[0].Bytes
		}
		found.Modes = append(found.Modes, k)
	}
	if len(found.Modes) > 0 {
		b.found.Cache = found
	}
	return nil
}

// deviceFor returns d if a flag names an engine, else a device on the engine of that name. The caller calls done to
// close what deviceFor has opened.
func (a *app) deviceFor(ctx context.Context, d *ane.Device, name string) (
	other *ane.Device, done func() error, err error,
) {
	if a.engine != engine.Auto || a.socket != "" {
		return d, func() error { return nil }, nil
	}
	mode, err := a.numerics(name)
	if err != nil {
		return nil, nil, err
	}
	emulated, err := a.emulates(name)
	if err != nil {
		return nil, nil, err
	}
	other, err = engine.Open(ctx, name, engine.Numerics(mode), engine.Emulate(emulated))
	if err != nil {
		return nil, nil, err
	}
	return other, other.Close, nil
}

// language measures a language model on d, or on the software engine if no flag names an engine: its process has the
// memory.
func (b *benchRun) language(ctx context.Context, a *app, d *ane.Device) (err error) {
	const step = "language model"
	if b.plan.model == nil {
		return nil
	}
	d, done, err := a.deviceFor(ctx, d, engine.Soft)
	if err != nil {
		return b.skip(ctx, step, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	if b.found.Language, err = b.plan.model.measure(ctx, d, b.progress); err != nil {
		return b.skip(ctx, step, err)
	}
	return nil
}

// Targets of an evaluation in another process, those of package tripbench.
const (
	tripRatio  = 2.0
	tripP50    = 25 * time.Microsecond
	tripSpread = 1.2
)

// tripRounds is the number of rounds of the evaluations.
const tripRounds = 3

// evaluations measures evaluations on d, or on a broker if no flag names an engine.
func (b *benchRun) evaluations(ctx context.Context, a *app, d *ane.Device) (err error) {
	const step = "Evaluate in another process"
	d, done, err := a.deviceFor(ctx, d, engine.Broker)
	if err != nil {
		return b.skip(ctx, step, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	e := &evaluated{Engine: d.Receipt().Engine}
	ratios, times := map[int]*figure{}, map[int]*figure{}
	var spread figure
	for range tripRounds {
		r, err := tripbench.Measure(ctx, d, b.progress)
		if err != nil {
			return b.skip(ctx, step, err)
		}
		if e.Floor == 0 || r.Floor < e.Floor {
			e.Floor = r.Floor
		}
		spread.add(r.Spread)
		for i, t := range r.Trips {
			if i == len(e.Trips) {
				e.Trips = append(e.Trips, trip{Bytes: t.Bytes, Target: t.Target, P50: t.P50, P99: t.P99,
					Allocs: t.Allocs})
				ratios[i], times[i] = &figure{}, &figure{}
			}
			ratios[i].add(t.Ratio)
			times[i].add(float64(t.P50))
			e.Trips[i].P50, e.Trips[i].P99 = min(e.Trips[i].P50, t.P50), min(e.Trips[i].P99, t.P99)
			e.Trips[i].Allocs = min(e.Trips[i].Allocs, t.Allocs)
		}
	}
	for i := range e.Trips {
		t := &e.Trips[i]
		what := "Evaluate one row of " + membench.BytesText(t.Bytes)
		t.Ratio, t.Spread = ratios[i].value, ratios[i].spread()
		one := target{name: fmt.Sprintf("Evaluate%dMB/ratio", t.Bytes>>20), what: what, unit: "x", figure: *ratios[i],
			most: tripRatio}
		two := target{name: fmt.Sprintf("Evaluate%dMB/time", t.Bytes>>20), what: what, unit: "ns", figure: *times[i],
			most: float64(tripP50), ratio: &one}
		if e.Floor >= tripP50 {
			two.unreachable = fmt.Sprintf("the floor alone takes %v", e.Floor)
		}
		b.targets = append(b.targets, one, two)
		t.Missed = worse(one.verdict(), two.verdict())
	}
	e.Largest = spread.value
	b.targets = append(b.targets, target{name: "Evaluate/largest-to-smallest",
		what: "Evaluate, largest to smallest tensor",
		unit: "x", figure: spread, most: tripSpread})
	b.found.Evaluate = e
	return nil
}
