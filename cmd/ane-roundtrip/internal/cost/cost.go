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
	"github.com/anekit/anekit/internal/plist"
)

// Command returns the command cost.
func Command(a *cli.App) *cobra.Command {
	var name string
	var o cost.Options
	var largest bool
	cmd := &cobra.Command{
		Use:   "cost FILE",
		Short: "Estimate what a MIL program costs on a chip",
		Long: `cost estimates the time of each operator of a MIL program and of a call, what
bounds it, the memory of surfaces and weights, and what Core ML would place on
the CPU. It uses types and shapes only: it opens no engine, compiles nothing,
and reads no weights. The file may be - for standard input, or a model of Core
ML: .mlpackage, .mlmodelc, .mlmodel.

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
  ane-roundtrip cost --json --shape x=1,64,128 model.mlpackage
  ane-roundtrip cost --report cost.html model.mil`,
		Args: cli.Operands(1, 1, "one, FILE.mil, a model or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.BeginReport(cmd, cli.Input{Flag: "cost", Path: args[0]}); err != nil {
				return err
			}
			c, err := chip.Parse(name)
			if err != nil {
				return cli.Bad(err)
			}
			o.Chip = c
			return estimate(a, cmd.Context(), args[0], o, largest)
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "chip", chip.M6.String(), "`CHIP`: m1 to m6, or h13 to h18g")
	f.StringVar(&o.Function, "function", "", "`NAME` of the function (default main, else the first)")
	f.IntVar(&o.Engines, "engines", 1, "`N` engines that the program may be split over: 1, or 2 on m6")
	f.IntVar(&o.InFlight, "in-flight", 1, "`N` requests that the caller keeps submitted")
	f.Float64Var(&o.Gap, "gap-us", 0, "`MICROSECONDS` between the end of a call and the next (default: full clock)")
	f.Float64Var(&o.Idle, "idle-us", 0, "`MICROSECONDS` that the engine has been idle before the call")
	f.BoolVar(&largest, "largest", false, "list the longest operators first")
	a.ModelFlags(cmd)
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	return cmd
}

// details are the fields that cost adds to the report. Times are nanoseconds.
type details struct {
	File   string `json:"file"`
	Target string `json:"target"` // the name that compilers have for the chip
	*cost.Estimate
	Budgets plist.Array `json:"budgets"`
}

// estimate estimates a program and prints it.
func estimate(a *cli.App, ctx context.Context, path string, o cost.Options, largest bool) error {
	switch {
	case o.Engines < 1:
		return cli.Badf("--engines %d; give 1 or 2", o.Engines)
	case o.InFlight < 1:
		return cli.Badf("--in-flight %d; give 1 or more", o.InFlight)
	}
	text, err := a.ReadProgram(ctx, "cost", path)
	if err != nil {
		return err
	}
	o.Function = text.Function(o.Function)
	p, err := a.Parse(text, o.Function)
	if err != nil {
		return err
	}
	e, err := cost.Of(p, o)
	if wrong := (*cost.Error)(nil); errors.As(err, &wrong) && wrong.Pos.Known() {
		return cli.Bad(&mil.Error{File: text.Name, Pos: wrong.Pos, Msg: wrong.What, Hint: wrong.Hint})
	}
	if err != nil {
		return cli.Bad(err)
	}
	if largest {
		slices.SortStableFunc(e.Ops, func(a, b cost.Op) int { return cmp.Compare(b.Time.Value, a.Time.Value) })
	}
	d := details{File: path, Target: o.Chip.Target(), Estimate: e}
	for _, b := range e.Budgets {
		var limit any // null if not known
		if b.Limit.Known() {
			limit = b.Limit.Value
		}
		d.Budgets = append(d.Budgets, plist.Of("name", b.Name, "used", b.Used, "limit", limit, "over", b.Over(),
			"evidence", b.Limit.Degree, "source", b.Limit.Source))
	}
	a.Show(d, View)
	return nil
}
