package cost

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/cost"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// costOptions are the flags of cost.
type costOptions struct {
	chip, function    string
	engines, inFlight int
	gap, idle         float64
	largest           bool
}

// Command returns the command cost.
func Command(a *cli.App) *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use:   "cost FILE.mil",
		Short: "Estimate what a MIL program costs on a chip",
		Long: `cost estimates the time of each operator of a MIL program and of a call, what
bounds it, the memory of surfaces and weights, and what Core ML would place on
the CPU. It uses types and shapes only: it opens no engine, compiles nothing,
and reads no weights. The file may be - for standard input.

Each figure has its evidence: measured, compiled, stated or inferred; --json has
the sources. Estimates of chains of 1x1 convolutions on M6 were compared with
published times; those of other programs may be off by 30 %.

The estimate is for a warm engine at full clock. --gap-us and --idle-us say how
the caller spaces its calls, which determines the clock of an M6; --engines 2
says whether the compiler of an M6 splits the program, and what that gains.

--report FILE writes the JSON object to FILE.json, or a page of it with a plot
of the operators to FILE.html; also on failure.`,
		Example: `  ane-roundtrip cost --chip m6 model.mil
  ane-roundtrip cost --chip h18g --engines 2 --gap-us 200 --largest model.mil
  ane-roundtrip cost --json model.mil
  ane-roundtrip cost --report cost.html model.mil`,
		Args: cli.Operands(1, 1, "one, FILE.mil or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.BeginReport(cmd, cli.Input{Flag: "cost", Path: args[0]}); err != nil {
				return err
			}
			return estimate(a, cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.chip, "chip", chip.M6.String(), "`CHIP`: m1 to m6, or h13 to h18g")
	f.StringVar(&o.function, "function", "", "`NAME` of the function (default main, else the first)")
	f.IntVar(&o.engines, "engines", 1, "`N` engines that the program may be split over: 1, or 2 on m6")
	f.IntVar(&o.inFlight, "in-flight", 1, "`N` requests that the caller keeps submitted")
	f.Float64Var(&o.gap, "gap-us", 0, "`MICROSECONDS` between the end of a call and the next (default: full clock)")
	f.Float64Var(&o.idle, "idle-us", 0, "`MICROSECONDS` that the engine has been idle before the call")
	f.BoolVar(&o.largest, "largest", false, "list the longest operators first")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	return cmd
}

// costDetails are the fields that cost adds to the report. Times are nanoseconds.
type costDetails struct {
	File         string       `json:"file"`
	Function     string       `json:"function"`
	Chip         string       `json:"chip"`
	Target       string       `json:"target"`
	Engines      int          `json:"engines"`
	Split        bool         `json:"split"` // for two engines
	Why          string       `json:"why,omitempty"`
	Call         costFigure   `json:"call_ns"`
	Task         costFigure   `json:"task_ns"`
	Clock        costFigure   `json:"clock_mhz"`
	Uncertainty  costFigure   `json:"error"` // of call_ns, as a fraction
	Bound        string       `json:"bound"`
	Tasks        int          `json:"tasks"`
	Operators    []costRow    `json:"operators"`
	Parts        []costPart   `json:"parts"` // of a call, beside the operators
	Surfaces     int64        `json:"surface_bytes"`
	Largest      int64        `json:"largest_surface_bytes"`
	Weights      int64        `json:"weight_bytes"`
	Intermediate int64        `json:"largest_intermediate_bytes"`
	Budgets      []costBudget `json:"budgets"`
	CoreML       costPlace    `json:"coreml"`
	CPU          bool         `json:"cpu_quicker"`
	Notes        []string     `json:"notes,omitempty"`
}

// costFigure is a number with its evidence.
type costFigure struct {
	Value    float64 `json:"value"`
	Evidence string  `json:"evidence"` // measured, compiled, stated, inferred or unknown
	Source   string  `json:"source"`
}

type costRow struct {
	Name     string     `json:"name"`
	Operator string     `json:"operator"`
	Line     int        `json:"line"`   // from 1; 0 if not known
	Column   int        `json:"column"` // in bytes, from 1; 0 if not known
	Time     costFigure `json:"time_ns"`
	Bound    string     `json:"bound"`
	MACs     float64    `json:"macs"`
	Weights  int64      `json:"weight_bytes"`
	Elements int64      `json:"elements"` // through the elementwise unit
	Tasks    int        `json:"tasks"`
	Note     string     `json:"note,omitempty"`
}

type costPart struct {
	Name  string     `json:"name"`
	Time  costFigure `json:"time_ns"`
	Bound string     `json:"bound"`
}

type costBudget struct {
	Name     string `json:"name"`
	Used     int64  `json:"used"`
	Limit    *int64 `json:"limit"` // null if not known
	Over     bool   `json:"over"`
	Evidence string `json:"evidence"`
	Source   string `json:"source"`
}

// costPlace is Core ML's placement.
type costPlace struct {
	Engine   costFigure `json:"engine_ns"` // all on the engine but what it refuses
	CPU      costFigure `json:"cpu_ns"`    // all on the CPU
	Chosen   costFigure `json:"chosen_ns"`
	OnEngine int        `json:"operators_on_engine"`
	OnCPU    int        `json:"operators_on_cpu"`
	Segments int        `json:"segments"`
}

func figureOf(f cost.Figure) costFigure {
	return costFigure{f.Value, f.Degree.String(), f.Source}
}

// timeOf is figureOf for a time in microseconds, which becomes nanoseconds.
func timeOf(f cost.Figure) costFigure {
	f.Value *= 1e3
	return figureOf(f)
}

// estimate estimates a program and prints it.
func estimate(a *cli.App, ctx context.Context, path string, o costOptions) error {
	c, err := chip.Parse(o.chip)
	if err != nil {
		return cli.Bad(err)
	}
	switch {
	case o.engines < 1:
		return cli.Badf("--engines %d; give 1 or 2", o.engines)
	case o.inFlight < 1:
		return cli.Badf("--in-flight %d; give 1 or more", o.inFlight)
	}
	text, _, err := a.ReadProgram(ctx, "cost", path)
	if err != nil {
		return err
	}
	name := path
	if path == cli.Stdio {
		name = "<stdin>"
	}
	p, err := mil.Parse(name, text)
	if err != nil {
		return cli.Bad(err)
	}
	e, err := cost.Of(p, cost.Options{Chip: c, Function: o.function, Engines: o.engines, Gap: o.gap, Idle: o.idle,
		InFlight: o.inFlight})
	if wrong := (*cost.Error)(nil); errors.As(err, &wrong) {
		if wrong.Pos != (mil.Pos{}) {
			return cli.Bad(&mil.Error{File: name, Pos: wrong.Pos, Msg: wrong.What, Hint: wrong.Hint})
		}
		return cli.Badf("%s; %s", wrong.What, wrong.Hint)
	}
	if err != nil {
		return cli.Bad(err)
	}
	d := costDetailsOf(path, e)
	if o.largest {
		slices.SortStableFunc(d.Operators, func(a, b costRow) int { return cmp.Compare(b.Time.Value, a.Time.Value) })
	}
	r := cli.NewReport(nil)
	r.Details, r.View = d, View
	a.Deliver(r)
	return nil
}

func costDetailsOf(path string, e *cost.Estimate) *costDetails {
	d := &costDetails{File: path, Function: e.Function, Chip: e.Chip.String(), Target: e.Chip.Target(),
		Engines: e.Engines, Split: e.Split, Why: e.Why, Call: timeOf(e.Call), Task: timeOf(e.Task),
		Clock: figureOf(e.Clock), Uncertainty: figureOf(e.Error), Bound: e.Bound.String(), Tasks: e.Tasks,
		Operators: []costRow{}, Surfaces: e.Memory.Surfaces, Largest: e.Memory.Largest, Weights: e.Memory.Weights,
		Intermediate: e.Memory.Intermediate, CPU: e.CPU, Notes: e.Notes,
		CoreML: costPlace{timeOf(e.Place.Engine), timeOf(e.Place.CPU), timeOf(e.Place.Chosen), e.Place.OnEngine,
			e.Place.OnCPU, e.Place.Segments}}
	for _, op := range e.Ops {
		d.Operators = append(d.Operators, costRow{op.Name, op.Kind, op.Pos.Line, op.Pos.Col, timeOf(op.Time),
			op.Bound.String(), op.MACs, op.Weights, op.Elements, op.Tasks, op.Note})
	}
	for _, p := range e.Parts {
		d.Parts = append(d.Parts, costPart{p.Name, timeOf(p.Time), p.Bound.String()})
	}
	for _, b := range e.Budgets {
		row := costBudget{b.Name, b.Used, nil, b.Over(), b.Limit.Degree.String(), b.Limit.Source}
		if b.Limit.Known() {
			row.Limit = &b.Limit.Value
		}
		d.Budgets = append(d.Budgets, row)
	}
	return d
}
