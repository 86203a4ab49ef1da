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
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
)

// carried stands for a rule where the operands, which differ by less than --tol, make the difference.
const carried = "none here: differences of the operands within --tol add up"

// compareDetails is what run --compare adds to the report.
type compareDetails struct {
	Modes      [2]numerics.Mode `json:"modes"`
	Compared   int              `json:"compared"`   // results of operators, up to the one that differs
	Difference *modeDifference  `json:"difference"` // null if all results are equal

	Operators []modeResult `json:"operators,omitempty"` // every result; with --json or --report
}

// modeResult is how far one result of an operator is apart between two modes, whatever --tol says.
type modeResult struct {
	Operator string  `json:"operator"`
	Value    string  `json:"value"`
	Line     int     `json:"line"`
	Elements int     `json:"elements"`
	Differ   int     `json:"differ"`
	Worst    float64 `json:"max_difference"` // among finite elements
	Infinite int     `json:"not_finite"`     // elements that differ and are infinite or NaN in a mode
	Relative float64 `json:"relative"`       // the same, divided by the largest magnitude in the first mode
}

// modeDifference is the first operator whose result differs between two modes.
type modeDifference struct {
	Operator string          `json:"operator"`
	Value    string          `json:"value"` // name of the result
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Column   int             `json:"column"`
	DType    string          `json:"dtype"`
	Shape    []int           `json:"shape"`
	Index    []int           `json:"index"`  // of the first element that differs
	Values   [2]trial.Number `json:"values"` // that element in each mode; null if infinite or NaN
	Shown    [2]string       `json:"shown"`  // the same as text
	ULPs     uint64          `json:"ulps"`
	Differ   int             `json:"differ"` // elements
	Elements int             `json:"elements"`
	Worst    trial.Number    `json:"max_difference"` // among finite elements
	Infinite int             `json:"not_finite"`     // elements that differ and are infinite or NaN in a mode
	Rules    []string        `json:"rules"`          // one, or those that make the difference together
}

// compareModes reads --compare.
func compareModes(a *cli.App, text string) (m [2]numerics.Mode, err error) {
	if a.Mode != numerics.Reference.String() {
		return m, cli.Badf("--compare names both modes; leave --numerics out")
	}
	if a.Apple || a.Socket != "" || a.Engine != engine.Auto && a.Engine != engine.Soft {
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
	c := modes.Comparison{Modes: j.compare, Tol: j.o.tol, Inputs: map[string][]byte{},
		Source: ane.Source{File: file, Program: program, Function: j.o.function, Weights: j.weights}}
	for name, t := range j.rig.In {
		data := make([]byte, t.Layout().PackedBytes())
		if _, err := t.Read(data); err != nil {
			return err
		}
		c.Inputs[name] = data
	}
	j.compared = &compareDetails{Modes: j.compare}
	if j.app.Reports() {
		c.Each = func(r modes.Result) {
			one := modeResult{Operator: r.Operator, Value: cli.Visible(r.Value), Line: r.Pos.Line, Elements: r.Elements,
				Differ: r.Differ, Worst: r.Worst, Infinite: r.Infinite}
			if r.Largest > 0 {
				one.Relative = r.Worst / r.Largest
			}
			j.compared.Operators = append(j.compared.Operators, one)
		}
	}
	d, compared, err := c.Find(ctx)
	if err != nil {
		return err
	}
	j.compared.Compared = compared
	if d == nil {
		return nil
	}
	m := &modeDifference{Operator: d.Operator, Value: cli.Visible(d.Value), File: cli.Visible(file), Line: d.Pos.Line,
		Column: d.Pos.Col, DType: d.DType.String(), Shape: d.Shape, Index: d.Index, ULPs: d.ULPs, Differ: d.Differ,
		Elements: 1, Worst: trial.Number(d.Worst), Infinite: d.Infinite}
	for i, v := range d.Got {
		m.Values[i], m.Shown[i] = trial.Number(v), fmt.Sprintf("%g", v)
	}
	for _, n := range d.Shape {
		m.Elements *= n
	}
	for _, one := range d.Rules.Each() {
		m.Rules = append(m.Rules, one.String())
	}
	if d.Carried {
		m.Rules = []string{carried}
	}
	j.compared.Difference = m
	return nil
}

// extent says how many elements differ and by how much. An infinite element differs by no number.
func (d *modeDifference) extent() string {
	s := fmt.Sprintf("%d of %d elements", d.Differ, d.Elements)
	if d.Infinite < d.Differ {
		s += fmt.Sprintf(", by %.6g at most", float64(d.Worst))
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
	w.Row("differ", d.extent())
	w.Row("rule", strings.Join(d.Rules, " + "))
	w.Row("equal before", cli.Counted(c.Compared-1, "result", "results"))
	if err := a.Printf("\n"); err != nil {
		return err
	}
	return a.Table(w)
}
