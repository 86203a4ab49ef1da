package bench

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/growthbench"
)

// growthOptions are the flags of bench growth.
type growthOptions struct {
	dir, subjects string
	most          time.Duration
}

func growthCommand(a *cli.App) *cobra.Command {
	var o growthOptions
	cmd := &cobra.Command{
		Use:   "growth",
		Short: "Measure how cost grows with size",
		Long: `growth measures the cost of an operation at several sizes, and fits the
exponent: cost grows with this power of the size. Subjects are matmul (rows and
columns), attention (tokens), decode (tokens held, in equal room), broker
(clients, a process each), eventfds (pairs of processes that only wake each
other, which clients of a broker cannot be faster than), weights (tensors of a
file), and builder and compile (operators of a program).

"expected" is the exponent that the work has by itself. "last" is that of the
two largest sizes: it exceeds the other where the cost bends upwards. Costs are
time of the processor; those of broker and eventfds are the time for one
evaluation of all clients together.

--report FILE writes the JSON object to FILE.json, or a page of it with plots to
FILE.html; also on failure.`,
		Example: `  ane-roundtrip bench growth
  ane-roundtrip bench growth --subject matmul,attention --time 10s`,
		Args: cli.NoArgs,
		RunE: reporting(a, func(t *trial.T) { o.run(t, a) }),
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "`FOLDER` for files of weights (default: that of temporary files)")
	f.StringVar(&o.subjects, "subject", "", "`NAMES` with commas between them (default: all)")
	f.DurationVar(&o.most, "time", 5*time.Second, "after two sizes, omit those of which a call takes longer than `TIME`")
	a.JSONFlag(cmd)
	a.ReportFlag(cmd)
	a.EngineFlags(cmd)
	a.ArithmeticFlags(cmd)
	return cmd
}

// GrowthSubjects lists the names of subjects.
func GrowthSubjects() []string {
	return cli.Each(growthbench.Subjects(nil, ""), func(s growthbench.Subject) string { return s.Name })
}

// growthDetails are the fields that bench growth adds to the report.
type growthDetails struct {
	Growth  []growthbench.Growth `json:"growth"`
	Skipped []skippedStep        `json:"skipped_subjects,omitempty"`
}

// run measures the subjects, and skips those that need another system.
func (o growthOptions) run(t *trial.T, a *cli.App) {
	names := GrowthSubjects()
	if o.subjects != "" {
		names = strings.Split(o.subjects, ",")
	}
	for i, n := range names {
		if names[i] = strings.TrimSpace(n); !slices.Contains(GrowthSubjects(), names[i]) {
			trial.NoError(cli.NoSuch("subject", names[i], GrowthSubjects()))
		}
	}
	d := trial.Must(a.OpenEngineOrHint(t.Ctx))
	t.Closing(d.Close)
	dir, err := os.MkdirTemp(o.dir, "ane-growth")
	trial.NoError(cli.Bad(err))
	t.Closing(func() error { return os.RemoveAll(dir) })
	bar := a.Progress(0)
	defer bar.Stop()
	found := &growthDetails{Growth: []growthbench.Growth{}}
	for _, s := range growthbench.Subjects(d, dir) {
		if !slices.Contains(names, s.Name) {
			continue
		}
		bar.Now(s.Name)
		g, err := s.Measure(t.Ctx, o.most)
		if errors.Is(err, ane.ErrUnavailable) {
			found.Skipped = append(found.Skipped, skippedStep{s.Name, cli.ErrorText(err)})
			continue
		}
		found.Growth = append(found.Growth, trial.Must(g, err))
	}
	r := cli.NewReport(d)
	r.Details, r.View = found, GrowthView
	a.Deliver(r)
}

// GrowthView lays out costs over sizes, and the exponents.
func GrowthView(d *doc.Doc, v *doc.Value) {
	all := v.Items("growth")
	exponents := doc.NewTable("Exponents", "subject", "#sizes", "#exponent", "#last", "#expected")
	costs := doc.NewTable("Costs", "subject", "#size", "of", "#cost", "#/size|cost/size")
	plots := d.Figures()
	for i, g := range all {
		points := g.Items("points")
		exponents.Row(g.Text("subject"), doc.Nothing().Brief("%d", len(points)), power(g, "exponent"),
			power(g, "exponent_last"), power(g, "expected"))
		for _, p := range points {
			each := doc.Nothing()
			if g.At("expected").Float() == 1 {
				each = each.Brief("%v", time.Duration(p.At("cost_ns").Float()/p.At("size").Float()))
			}
			costs.Row(g.Text("subject"), p.Plain("size"), g.Text("unit"), p.Time("cost_ns"), each)
		}
		c := &doc.Chart{X: doc.Axis{Label: g.Text("unit").Number, Log: true, Step: 10},
			Y: doc.Axis{Form: doc.DurationOf(1), Log: true}}
		c.Add(through(points, "size", "cost_ns", doc.Curve{Color: doc.Series(i), Dots: true}))
		plots.Add(c, doc.Plot{Title: g.Text("subject"), Caption: doc.Line("less is better")}, "Cost over the size.")
	}
	d.Section("Growth", doc.Line("Cost grows with the size to the power of its exponent; \"last\" is that of the two "+
		"largest sizes, \"expected\" that of the work by itself."), plots, exponents, costs)
	d.Section("Skipped", nil, skipped(v.Items("skipped_subjects")))
}

// power is an exponent.
func power(v *doc.Value, key string) doc.Cell { return v.Digits(key).Brief("%.2f", v.At(key).Float()) }
