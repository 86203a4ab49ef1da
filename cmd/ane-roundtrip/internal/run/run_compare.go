package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/modes"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/near"
)

// compareModes reads --compare.
func compareModes(a *cli.App, text string) (m [2]numerics.Mode, err error) {
	if a.Mode != numerics.Reference.String() {
		return m, cli.Badf("--compare names both modes; leave --numerics out")
	}
	if a.RequireApple || a.Socket != "" || a.Engine != engine.Auto && a.Engine != engine.Soft {
		return m, cli.Badf("--compare evaluates on the engine %s; leave --engine, --broker and --require-ane out",
			engine.Soft)
	}
	names := strings.Split(text, ",")
	if len(names) != 2 {
		return m, cli.Badf("--compare %s; give two modes, as in reference,m6", text)
	}
	for i, name := range names {
		if m[i], err = numerics.Parse(strings.TrimSpace(name)); err != nil {
			return m, cli.Badf("--compare: there is no numerics mode %q; %s", name,
				near.Choices(name, "choose one of", numerics.Names()))
		}
	}
	if m[0] == m[1] {
		return m, cli.Badf("--compare %s names one mode twice; give two modes, as in reference,m6", text)
	}
	return m, nil
}

// compareTwo evaluates the program, whose inputs are filled, under both modes.
func (j *runJob) compareTwo(ctx context.Context, program *mil.Program, file string) error {
	c := modes.Comparison{Modes: j.compare, Tol: j.o.tol, Inputs: map[string][]byte{}, All: j.app.Reports(),
		Source: ane.Source{File: file, Program: program, Function: j.o.function, Weights: j.weights}}
	for name, t := range j.rig.In {
		c.Inputs[name] = make([]byte, t.Layout().PackedBytes())
		if _, err := t.Read(c.Inputs[name]); err != nil {
			return err
		}
	}
	var err error
	j.compared, err = c.Find(ctx)
	return err
}

// extent says how many elements differ and by how much. An infinite element differs by no number.
func extent(d modes.Extent) string {
	s := fmt.Sprintf("%d of %d elements", d.Differ, d.Elements)
	if d.Infinite < d.Differ {
		s += fmt.Sprintf(", by %.6g at most", d.Worst)
	}
	if d.Infinite > 0 {
		s += fmt.Sprintf("; %d infinite or NaN", d.Infinite)
	}
	return s
}

// compareTable prints what --compare found.
func (j *runJob) compareTable() error {
	a, c := j.app, j.compared
	d := c.Difference
	if d == nil {
		return a.Printf("%s and %s: %s compared, no difference\n", c.Modes[0], c.Modes[1],
			cli.Counted(c.Compared, "result", "results"))
	}
	w := page.NewTable("difference", fmt.Sprintf("%s and %s", c.Modes[0], c.Modes[1]))
	w.Row("operator", fmt.Sprintf("%s %s, %s:%d:%d", d.Operator, d.Value, d.File, d.Line, d.Column))
	w.Row("element", fmt.Sprintf("%v of %s %v", d.Index, d.DType, d.Shape))
	w.Row(c.Modes[0].String(), d.Shown[0])
	w.Row(c.Modes[1].String(), d.Shown[1])
	w.Row("apart", cli.Counted(int(d.ULPs), "ulp", "ulps"))
	w.Row("differ", extent(d.Extent))
	w.Row("rule", strings.Join(d.Rules, " + "))
	w.Row("equal before", cli.Counted(c.Compared-1, "result", "results"))
	if err := a.Printf("\n"); err != nil {
		return err
	}
	return a.Table(w)
}
