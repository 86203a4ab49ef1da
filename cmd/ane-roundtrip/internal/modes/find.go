// Package modes finds where two numerics modes part: the first operator of a program whose result differs, and
// the rule that makes the difference.
//
// It evaluates the program under both modes with all intermediate values as outputs, in pieces that bound the
// memory. Every operator before the first one that differs gives equal results, so that operator has the same
// operands in both modes. It is then evaluated alone, with single rules of the modes exchanged, until the
// element of one mode becomes that of the other.
package modes

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/step"
)

// Bounds of a piece: values that are outputs of one variant of the program.
const (
	pieceBytes  = 256 << 20
	pieceValues = 64
)

// Comparison is a program to evaluate under two modes.
type Comparison struct {
	Source ane.Source
	Modes  [2]numerics.Mode
	Inputs map[string][]byte // dense elements of each input, by its name
	Tol    float64           // an element differs from here on, or from Tol times its value where that is above 1
	All    bool              // list every result of an operator, also after the first that differs

	tree     *mil.Program
	function mil.Function        // the one to evaluate
	computed map[string]bool     // names of values that are not known when compiling
	outer    map[*ops.Value]bool // values of the function, without those inside of blocks
}

// Report is what a Comparison has found.
type Report struct {
	Modes      [2]numerics.Mode `json:"modes"`
	Compared   int              `json:"compared"`            // results of operators, up to the one that differs
	Difference *Difference      `json:"difference"`          // null if all results are equal
	Operators  []Result         `json:"operators,omitempty"` // every result, if asked for
}

// Extent says how many elements of a result differ between the modes, and by how much.
type Extent struct {
	Elements int     `json:"elements"` // of the result
	Differ   int     `json:"differ"`
	Worst    float64 `json:"max_difference"` // among finite elements
	Infinite int     `json:"not_finite"`     // elements that differ and are infinite or NaN in a mode
}

// Difference is the first operator whose result differs between the modes.
type Difference struct {
	Operator string          `json:"operator"` // "conv"
	Value    string          `json:"value"`    // name of the result
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Column   int             `json:"column"`
	DType    string          `json:"dtype"`
	Shape    []int           `json:"shape"`
	Index    []int           `json:"index"`  // of the first element that differs
	Values   [2]trial.Number `json:"values"` // that element in each mode; null if infinite or NaN
	Shown    [2]string       `json:"shown"`  // the same as text
	ULPs     uint64          `json:"ulps"`   // representable numbers between the two
	Extent
	Rules []string `json:"rules"` // one, or those that make the difference together
}

// Result is how far one result of an operator is apart between the modes. Tol has no influence on it.
type Result struct {
	Operator string `json:"operator"`
	Value    string `json:"value"`
	Line     int    `json:"line"`
	Extent
	Relative float64 `json:"relative"` // Worst divided by the largest magnitude in the first mode
}

// carried stands for a rule where the operands, which differ by less than Tol, make the difference.
const carried = "none here: differences of the operands within --tol add up"

// Find compares. It stops at the first result that differs unless All is set.
func (c *Comparison) Find(ctx context.Context) (*Report, error) {
	found := &Report{Modes: c.Modes}
	return found, step.Run(ctx, func(t *step.T) { c.find(t, found) })
}

func (c *Comparison) find(t *step.T, found *Report) {
	c.tree = step.Must(c.Source.Tree())
	g := step.Must(ops.Analyze(c.Source.File, c.tree, c.Source.Function, c.Source.Weights))
	c.function, c.computed = *c.tree.Select(c.Source.Function), map[string]bool{}
	c.outer = map[*ops.Value]bool{}
	for _, v := range g.Parameters {
		c.outer[v] = true
	}
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			c.computed[v.Name], c.outer[v] = !v.Const(), true
		}
	}
	for _, part := range pieces(g) {
		first := c.evaluate(t, c.function, part, c.Inputs, soft.Numerics(c.Modes[0]))
		second := c.evaluate(t, c.function, part, c.Inputs, soft.Numerics(c.Modes[1]))
		for _, r := range part {
			a, b := first[r.value.Name], second[r.value.Name]
			if c.All {
				found.Operators = append(found.Operators, r.result(a, b))
			}
			if found.Difference == nil {
				found.Compared++
				found.Difference = c.difference(t, r, a, b)
			}
			if found.Difference != nil && !c.All {
				return
			}
		}
	}
}

// output is a value that a node computes.
type output struct {
	node  *ops.Node
	value *ops.Value
}

// pieces lists the values that can be outputs, in the order of the program, and cuts the list where a piece has enough
// values or bytes.
func pieces(g *ops.Graph) (parts [][]output) {
	size := pieceBytes
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			if _, err := ane.NewLayout(v.Name, v.DType, v.Shape...); err != nil || v.Const() || v.State {
				continue
			}
			bytes := v.Elements() * v.DType.Size()
			if size += bytes; size > pieceBytes || len(parts[len(parts)-1]) == pieceValues {
				parts, size = append(parts, nil), bytes
			}
			last := &parts[len(parts)-1]
			*last = append(*last, output{n, v})
		}
	}
	return parts
}

// evaluate runs the program once with f as its only function, and returns the values of part.
func (c *Comparison) evaluate(t *step.T, f mil.Function, part []output, in map[string][]byte,
	arithmetic ...soft.Option) map[string][]byte {
	f.Results = nil
	for _, r := range part {
		f.Results = append(f.Results, mil.Ref{Name: r.value.Name})
	}
	p := *c.tree
	p.Funcs = []*mil.Function{&f}
	src := ane.Source{File: c.Source.File, Program: &p, Function: f.Name, Weights: c.Source.Weights}
	out := map[string][]byte{}
	step.NoError(step.Run(t.Ctx, func(t *step.T) {
		d := step.Must(ane.Open(soft.New(arithmetic...), ""))
		t.Closing(d.Close)
		r := measure.Program(t, d, src, func(x *ane.Tensor) error {
			_, err := x.Write(in[x.Layout().Name])
			return err
		})
		step.Must(r.Evaluate(t.Ctx))
		for _, result := range f.Results {
			x := r.Output(result.Name)
			out[result.Name] = make([]byte, x.Layout().PackedBytes())
			step.Must(x.Read(out[result.Name]))
		}
	}))
	return out
}

// apart reports whether two elements differ. Zeros of both signs are equal, and so are all NaN.
func apart(x, y, tol float64) bool {
	if x == y || x != x && y != y {
		return false
	}
	return tol == 0 || !(math.Abs(x-y) <= tol*max(1, math.Abs(x))) || math.IsInf(x, 0)
}

// extent compares the elements of both modes. The first one that differs begins at first; largest is the largest finite
// magnitude in the first mode.
func (r output) extent(a, b []byte, tol float64) (e Extent, first int, largest float64) {
	e.Elements = r.value.Elements()
	for at := 0; at < len(a); at += r.value.DType.Size() {
		x, y := element.Load(r.value.DType, a[at:]), element.Load(r.value.DType, b[at:])
		if finite(x) {
			largest = max(largest, math.Abs(x))
		}
		if !apart(x, y, tol) {
			continue
		}
		if e.Differ++; e.Differ == 1 {
			first = at
		}
		if finite(x) && finite(y) {
			e.Worst = max(e.Worst, math.Abs(x-y))
		} else {
			e.Infinite++
		}
	}
	return e, first, largest
}

func finite(x float64) bool { return trial.Number(x).Finite() }

// result measures how far a value of both modes is apart.
func (r output) result(a, b []byte) Result {
	one := Result{Operator: r.node.Def.Name, Value: terminal.Visible(r.value.Name), Line: r.node.Op.Pos.Line}
	var largest float64
	if one.Extent, _, largest = r.extent(a, b, 0); largest > 0 {
		one.Relative = one.Worst / largest
	}
	return one
}

// difference compares a value of both modes; nil if it is equal.
func (c *Comparison) difference(t *step.T, r output, a, b []byte) *Difference {
	extent, first, _ := r.extent(a, b, c.Tol)
	if extent.Differ == 0 {
		return nil
	}
	v, pos := r.value, r.node.Op.Pos
	d := &Difference{Operator: r.node.Def.Name, Value: terminal.Visible(v.Name), File: terminal.Visible(c.Source.File),
		Line: pos.Line, Column: pos.Col, DType: v.DType.String(), Shape: v.Shape,
		ULPs: ulps(v.DType, a[first:], b[first:]), Extent: extent}
	at := first / v.DType.Size()
	for k, stride := range ops.Strides(v.Shape) {
		d.Index = append(d.Index, at/stride%v.Shape[k])
	}
	for i, data := range [][]byte{a, b} {
		x := element.Load(v.DType, data[first:])
		d.Values[i], d.Shown[i] = trial.Number(x), fmt.Sprintf("%g", x)
	}
	for _, one := range c.explain(t, r, at).Each() {
		d.Rules = append(d.Rules, one.String())
	}
	if d.Rules == nil {
		d.Rules = []string{carried}
	}
	return d
}

// ulps counts the representable numbers from a to b; infinity follows the largest number.
func ulps(d mil.DType, a, b []byte) uint64 {
	at := func(p []byte) (x int64) {
		if !d.Float() {
			return int64(element.Load(d, p))
		}
		for i := range d.Size() {
			x |= int64(p[i]) << (8 * i)
		}
		if sign := int64(1) << (d.Bits() - 1); x&sign != 0 {
			return -(x &^ sign)
		}
		return x
	}
	x, y := at(a), at(b)
	return uint64(max(x-y, y-x))
}

// explain evaluates the operator alone, with rules exchanged one by one. It returns the rules that give the element at
// an index its values in both modes, none if it does not differ with equal operands.
func (c *Comparison) explain(t *step.T, r output, at int) numerics.Rules {
	f, in := c.alone(t, r)
	under := func(rules numerics.Rules) float64 {
		out := c.evaluate(t, f, []output{r}, in, soft.Rules(rules), soft.Only(at))
		return element.Load(r.value.DType, out[r.value.Name][at*r.value.DType.Size():])
	}
	modes := [2]numerics.Rules{c.Modes[0].Rules(), c.Modes[1].Rules()}
	wants := [2]float64{under(modes[0]), under(modes[1])} // not those of the program, whose operands may differ by Tol
	if !apart(wants[0], wants[1], c.Tol) {
		return 0
	}
	together := modes[0] ^ modes[1]
	for i, want := range wants { // without the rule the second mode agrees with the first, or the other way round
		for _, one := range together.Each() {
			if !apart(under(modes[1-i]^one), want, 0) {
				return one
			}
		}
	}
	// Several rules: leave out those without which the difference stays complete.
	for _, one := range together.Each() {
		if !apart(under(modes[0]^(together&^one)), wants[1], 0) {
			together &^= one
		}
	}
	return together
}

// operands lists what a statement takes, with the values of the function that its blocks name.
func (c *Comparison) operands(n *ops.Node) []*ops.Value {
	all := slices.Clone(n.In)
	for _, b := range n.Blocks {
		inner := slices.Clone(b.Results)
		for _, m := range b.Nodes {
			inner = append(inner, c.operands(m)...)
		}
		for _, v := range inner {
			if v != nil && c.outer[v] {
				all = append(all, v)
			}
		}
	}
	return all
}

// alone is a function of one operator, what is known when compiling, and its other operands as inputs. Those are of the
// first mode.
func (c *Comparison) alone(t *step.T, r output) (f mil.Function, in map[string][]byte) {
	f, in = c.function, maps.Clone(c.Inputs)
	f.Params, f.Body = nil, nil
	var operands []output
	for _, v := range c.operands(r.node) {
		if v == nil || v.Const() || slices.ContainsFunc(f.Params, func(p mil.Var) bool { return p.Name == v.Name }) {
			continue
		}
		f.Params = append(f.Params, mil.Var{Pos: v.Pos, At: v.Pos, Type: v.Type(), Name: v.Name})
		if c.computed[v.Name] {
			operands = append(operands, output{value: v})
		}
	}
	for _, op := range c.function.Body {
		known := len(op.Results) > 0 && // a write of a state is no operand
			!slices.ContainsFunc(op.Results, func(v mil.Var) bool { return c.computed[v.Name] })
		if known || slices.ContainsFunc(op.Results, func(v mil.Var) bool { return v.Name == r.value.Name }) {
			f.Body = append(f.Body, op)
		}
	}
	if len(operands) > 0 {
		maps.Copy(in, c.evaluate(t, c.function, operands, c.Inputs, soft.Numerics(c.Modes[0])))
	}
	return f, in
}
