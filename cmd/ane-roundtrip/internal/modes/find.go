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
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/soft"
)

// Bounds of a piece: values that are outputs of one variant of the program.
const (
	pieceBytes  = 256 << 20
	pieceValues = 64
)

// Comparison is a program to evaluate under two modes.
type Comparison struct {
	Source ane.Source // with Program set
	Modes  [2]numerics.Mode
	Inputs map[string][]byte // dense elements of each input, by its name
	Tol    float64           // an element differs from here on, or from Tol times its value where that is above 1
	All    bool              // list every result of an operator, also after the first that differs

	tree     *mil.Program
	computed map[string]bool // names of values that are not known when compiling
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
	var err error
	if c.tree, err = c.Source.Tree(); err != nil {
		return nil, err
	}
	g, err := ops.Analyze(c.Source.File, c.tree, c.Source.Function, c.Source.Weights)
	if err != nil {
		return nil, err
	}
	c.computed = map[string]bool{}
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			c.computed[v.Name] = !v.Const()
		}
	}
	for _, part := range pieces(g) {
		var got [2]map[string][]byte
		for k, m := range c.Modes {
			if got[k], err = evaluate(ctx, c.variant(part), c.Inputs, soft.Numerics(m)); err != nil {
				return nil, err
			}
		}
		for _, r := range part {
			a, b := got[0][r.value.Name], got[1][r.value.Name]
			if c.All {
				found.Operators = append(found.Operators, r.result(a, b))
			}
			if found.Difference != nil {
				continue
			}
			found.Compared++
			if found.Difference, err = c.difference(ctx, r, a, b); err != nil {
				return nil, err
			}
			if found.Difference != nil && !c.All {
				return found, nil
			}
		}
	}
	return found, nil
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

// variant is the program with the values of part as its outputs.
func (c *Comparison) variant(part []output) ane.Source {
	f := *c.tree.Select(c.Source.Function)
	f.Results = nil
	for _, r := range part {
		f.Results = append(f.Results, mil.Ref{Name: r.value.Name})
	}
	return c.source(&f)
}

// source is the program with one function only.
func (c *Comparison) source(f *mil.Function) ane.Source {
	p := *c.tree
	p.Funcs = []*mil.Function{f}
	return ane.Source{File: c.Source.File, Program: &p, Function: f.Name, Weights: c.Source.Weights}
}

// evaluate runs a program once and returns its outputs.
func evaluate(
	ctx context.Context, src ane.Source, in map[string][]byte, opts ...soft.Option,
) (out map[string][]byte, err error) {
	d, err := ane.Open(soft.New(opts...), "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	m, err := d.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close(context.WithoutCancel(ctx))) }()
	r, err := m.NewRequest(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, l := range m.Inputs() {
		if _, err := r.Input(l.Name).Write(in[l.Name]); err != nil {
			return nil, err
		}
	}
	if _, err := r.Evaluate(ctx); err != nil {
		return nil, err
	}
	out = map[string][]byte{}
	for _, l := range m.Outputs() {
		out[l.Name] = make([]byte, l.PackedBytes())
		if _, err := r.Output(l.Name).Read(out[l.Name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// apart reports whether two elements differ. Zeros of both signs are equal, and so are all NaN.
func apart(x, y, tol float64) bool {
	if x == y || x != x && y != y {
		return false
	}
	return tol == 0 || !(math.Abs(x-y) <= tol*max(1, math.Abs(x))) || math.IsInf(x, 0)
}

// extent compares the elements of both modes. First is where the first one that differs begins.
func (r output) extent(a, b []byte, tol float64) (e Extent, first int) {
	e.Elements = r.value.Elements()
	for at := 0; at < len(a); at += r.value.DType.Size() {
		x, y := element.Load(r.value.DType, a[at:]), element.Load(r.value.DType, b[at:])
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
	return e, first
}

func finite(x float64) bool { return trial.Number(x).Finite() }

// result measures how far a value of both modes is apart.
func (r output) result(a, b []byte) Result {
	one := Result{Operator: r.node.Def.Name, Value: terminal.Visible(r.value.Name), Line: r.node.Op.Pos.Line}
	one.Extent, _ = r.extent(a, b, 0)
	largest := 0.0
	for at := 0; at < len(a); at += r.value.DType.Size() {
		if x := element.Load(r.value.DType, a[at:]); finite(x) {
			largest = max(largest, math.Abs(x))
		}
	}
	if largest > 0 {
		one.Relative = one.Worst / largest
	}
	return one
}

// difference compares a value of both modes; nil if it is equal.
func (c *Comparison) difference(ctx context.Context, r output, a, b []byte) (*Difference, error) {
	extent, first := r.extent(a, b, c.Tol)
	if extent.Differ == 0 {
		return nil, nil
	}
	v, pos := r.value, r.node.Op.Pos
	d := &Difference{Operator: r.node.Def.Name, Value: terminal.Visible(v.Name), File: terminal.Visible(c.Source.File),
		Line: pos.Line, Column: pos.Col, DType: v.DType.String(), Shape: v.Shape,
		ULPs: ulps(v.DType, a[first:], b[first:]), Extent: extent}
	at := first / v.DType.Size()
	for k, stride := range ops.Strides(v.Shape) {
		d.Index = append(d.Index, at/stride%v.Shape[k])
	}
	var values [2]float64
	for i, data := range [][]byte{a, b} {
		values[i] = element.Load(v.DType, data[first:])
		d.Values[i], d.Shown[i] = trial.Number(values[i]), fmt.Sprintf("%g", values[i])
	}
	rules, err := c.explain(ctx, r, at, values)
	for _, one := range rules.Each() {
		d.Rules = append(d.Rules, one.String())
	}
	if rules == 0 {
		d.Rules = []string{carried}
	}
	return d, err
}

// ulps counts the representable numbers from a to b; infinity follows the largest number.
func ulps(d mil.DType, a, b []byte) uint64 {
	at := func(p []byte) int64 {
		switch d {
		case mil.FP16:
			return ordered(int64(binary.LittleEndian.Uint16(p)), 1<<15)
		case mil.FP32:
			return ordered(int64(binary.LittleEndian.Uint32(p)), 1<<31)
		}
		return int64(element.Load(d, p))
	}
	x, y := at(a), at(b)
	return uint64(max(x-y, y-x))
}

// ordered maps the bits of a float to integers in the order of the numbers.
func ordered(bits, sign int64) int64 {
	if bits&sign != 0 {
		return -(bits &^ sign)
	}
	return bits
}

// explain evaluates the operator alone, with rules exchanged one by one, and returns those that give the element at an
// index its values in both modes; none if with equal operands it does not differ.
func (c *Comparison) explain(ctx context.Context, r output, at int, wants [2]float64) (numerics.Rules, error) {
	in, src, err := c.alone(ctx, r)
	if err != nil {
		return 0, err
	}
	under := func(rules numerics.Rules) (float64, error) {
		out, err := evaluate(ctx, src, in, soft.Rules(rules), soft.Only(at))
		if err != nil {
			return 0, err
		}
		return element.Load(r.value.DType, out[r.value.Name][at*r.value.DType.Size():]), nil
	}
	same := func(rules numerics.Rules, want float64) (bool, error) {
		got, err := under(rules)
		return got == want || got != got && want != want, err
	}
	modes := [2]numerics.Rules{c.Modes[0].Rules(), c.Modes[1].Rules()}
	if c.Tol > 0 { // the operands may differ; those of the first mode are taken for both
		for i, rules := range modes {
			if wants[i], err = under(rules); err != nil {
				return 0, err
			}
		}
		if !apart(wants[0], wants[1], c.Tol) {
			return 0, nil
		}
	}
	exchanged := modes[0] ^ modes[1]
	for i, want := range wants { // without the rule the second mode agrees with the first, or the other way round
		for _, one := range exchanged.Each() {
			found, err := same(modes[1-i]^one, want)
			if err != nil || found {
				return one, err
			}
		}
	}
	// Several rules: leave out those without which the difference stays complete.
	together := exchanged
	for _, one := range exchanged.Each() {
		found, err := same(modes[0]^(together&^one), wants[1])
		if err != nil {
			return 0, err
		}
		if found {
			together &^= one
		}
	}
	return together, nil
}

// alone is a program of one operator, its constants, and its other operands as inputs.
func (c *Comparison) alone(ctx context.Context, r output) (map[string][]byte, ane.Source, error) {
	f := *c.tree.Select(c.Source.Function)
	body := f.Body
	f.Params, f.Body, f.Results = nil, nil, []mil.Ref{{Name: r.value.Name}}
	in := map[string][]byte{}
	var operands []output
	for _, v := range r.node.In {
		if v == nil || v.Const() || slices.ContainsFunc(f.Params, func(p mil.Var) bool { return p.Name == v.Name }) {
			continue
		}
		f.Params = append(f.Params, mil.Var{Pos: v.Pos, At: v.Pos, Type: v.Type(), Name: v.Name})
		in[v.Name] = c.Inputs[v.Name]
		if c.computed[v.Name] {
			operands = append(operands, output{value: v})
		}
	}
	for _, op := range body {
		if slices.ContainsFunc(op.Results, func(v mil.Var) bool { return v.Name == r.value.Name }) {
			f.Body = append(f.Body, op)
			break
		}
		if len(op.Results) > 0 && // a write of a state is no operand
			!slices.ContainsFunc(op.Results, func(v mil.Var) bool { return c.computed[v.Name] }) {
			f.Body = append(f.Body, op) // known when compiling
		}
	}
	if len(operands) > 0 {
		values, err := evaluate(ctx, c.variant(operands), c.Inputs, soft.Numerics(c.Modes[0]))
		if err != nil {
			return nil, ane.Source{}, fmt.Errorf("operands of %s: %w", r.value.Name, err)
		}
		for name, value := range values {
			in[name] = value
		}
	}
	return in, c.source(&f), nil
}
