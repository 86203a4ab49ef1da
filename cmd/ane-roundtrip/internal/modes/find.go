package modes

import (
	"bytes"
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
	Inputs map[string][]byte  // dense elements of each input, by its name
	Tol    float64            // an element differs from here on, or from Tol times its value where that is above 1
	Done   func(part, of int) // called after each piece; may be nil
	Each   func(Result)       // called with every result, also after the first that differs; may be nil

	computed map[string]bool // names of values that are not known when compiling
}

// Difference is the first operator whose result differs.
type Difference struct {
	Operator string // "conv"
	Value    string // the name of the result
	Pos      mil.Pos
	DType    mil.DType
	Shape    []int
	Index    []int      // of the first element that differs
	Got      [2]float64 // that element in each mode
	ULPs     uint64     // representable numbers between the two
	Differ   int        // elements that differ
	Worst    float64    // largest absolute difference among finite elements
	Infinite int        // elements that differ and are infinite or NaN in a mode
	Rules    numerics.Rules
	Alone    bool // one rule makes the difference; else all of Rules together
	Carried  bool // with equal operands it does not differ: the operands' differences, within Tol, do it
}

// Result is what two modes make of one result of an operator. Tol has no influence on it.
type Result struct {
	Operator string
	Value    string
	Pos      mil.Pos
	Elements int
	Differ   int     // elements
	Worst    float64 // largest absolute difference among finite elements
	Infinite int     // elements that differ and are infinite or NaN in a mode
	Largest  float64 // magnitude among finite elements of the first mode
}

// Find compares. It stops at the first result that differs unless Each is set. Compared is the number of results that
// were compared, up to and with the one that differs. The Difference is nil if there is none.
func (c *Comparison) Find(ctx context.Context) (d *Difference, compared int, err error) {
	tree, err := c.Source.Tree()
	if err != nil {
		return nil, 0, err
	}
	g, err := ops.Analyze(c.Source.File, tree, c.Source.Function, c.Source.Weights)
	if err != nil {
		return nil, 0, err
	}
	c.computed = map[string]bool{}
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			c.computed[v.Name] = !v.Const()
		}
	}
	all := results(g)
	parts := pieces(all)
	for i, part := range parts {
		var got [2]map[string][]byte
		for k, m := range c.Modes {
			src := c.variant(tree, part)
			if got[k], err = evaluate(ctx, src, c.Inputs, soft.Numerics(m)); err != nil {
				return nil, compared, err
			}
		}
		if c.Done != nil {
			c.Done(i+1, len(parts))
		}
		for _, r := range part {
			a, b := got[0][r.value.Name], got[1][r.value.Name]
			if c.Each != nil {
				c.Each(resultOf(r, a, b))
			}
			if d != nil {
				continue
			}
			compared++
			if d = c.differ(r, a, b); d == nil {
				continue
			}
			if err := c.explain(ctx, tree, r, d); err != nil || c.Each == nil {
				return d, compared, err
			}
		}
	}
	return d, compared, nil
}

// resultOf measures how far a value of both modes is apart.
func resultOf(r result, a, b []byte) Result {
	v := r.value
	one := Result{Operator: r.node.Def.Name, Value: v.Name, Pos: r.node.Op.Pos, Elements: v.Elements()}
	exact := &Comparison{}
	for at := 0; at < len(a); at += v.DType.Size() {
		x, y := element.Load(v.DType, a[at:]), element.Load(v.DType, b[at:])
		if finite(x) {
			one.Largest = max(one.Largest, math.Abs(x))
		}
		if exact.apart(x, y) {
			one.Differ++
			if finite(x) && finite(y) {
				one.Worst = max(one.Worst, math.Abs(x-y))
			} else {
				one.Infinite++
			}
		}
	}
	return one
}

func finite(x float64) bool { return !math.IsInf(x, 0) && x == x }

// result is a value that a node computes.
type result struct {
	node  *ops.Node
	value *ops.Value
}

// results lists the values that can be outputs, in the order of the program.
func results(g *ops.Graph) (all []result) {
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			if _, err := ane.NewLayout(v.Name, v.DType, v.Shape...); err == nil && !v.Const() && !v.State {
				all = append(all, result{n, v})
			}
		}
	}
	return all
}

// pieces cuts the list where a piece has enough values or bytes.
func pieces(all []result) (parts [][]result) {
	size := 0
	for i, r := range all {
		size += r.value.Elements() * r.value.DType.Size()
		if n := len(parts); n == 0 || size > pieceBytes || len(parts[n-1]) == pieceValues {
			parts, size = append(parts, nil), r.value.Elements()*r.value.DType.Size()
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], all[i])
	}
	return parts
}

// variant is the program with the values of part as its outputs.
func (c *Comparison) variant(tree *mil.Program, part []result) ane.Source {
	f := *tree.Select(c.Source.Function)
	f.Results = nil
	for _, r := range part {
		f.Results = append(f.Results, mil.Ref{Name: r.value.Name})
	}
	return c.source(tree, &f)
}

// source is the program with one function only.
func (c *Comparison) source(tree *mil.Program, f *mil.Function) ane.Source {
	p := *tree
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
		data := make([]byte, l.PackedBytes())
		if _, err := r.Output(l.Name).Read(data); err != nil {
			return nil, err
		}
		out[l.Name] = data
	}
	return out, nil
}

// apart reports whether two elements differ. Zeros of both signs are equal, and so are all NaN.
func (c *Comparison) apart(x, y float64) bool {
	if x == y || x != x && y != y {
		return false
	}
	return c.Tol == 0 || !(math.Abs(x-y) <= c.Tol*max(1, math.Abs(x))) || math.IsInf(x, 0)
}

// differ compares a value of both modes.
func (c *Comparison) differ(r result, a, b []byte) *Difference {
	if bytes.Equal(a, b) {
		return nil
	}
	v := r.value
	d := &Difference{Operator: r.node.Def.Name, Value: v.Name, Pos: r.node.Op.Pos, DType: v.DType, Shape: v.Shape}
	size := v.DType.Size()
	for at := 0; at < len(a); at += size {
		if bytes.Equal(a[at:at+size], b[at:at+size]) {
			continue
		}
		x, y := element.Load(v.DType, a[at:]), element.Load(v.DType, b[at:])
		if !c.apart(x, y) {
			continue
		}
		if finite(x) && finite(y) {
			d.Worst = max(d.Worst, math.Abs(x-y))
		} else {
			d.Infinite++
		}
		if d.Differ++; d.Differ == 1 {
			d.Got, d.ULPs, d.Index = [2]float64{x, y}, ulps(v.DType, a[at:], b[at:]), unravel(at/size, v.Shape)
		}
	}
	if d.Differ == 0 {
		return nil
	}
	return d
}

// unravel converts a row-major index.
func unravel(i int, shape []int) []int {
	index := make([]int, len(shape))
	for k, n := range slices.Backward(shape) {
		index[k], i = i%n, i/n
	}
	return index
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

// explain evaluates the operator alone, with rules exchanged one by one.
func (c *Comparison) explain(ctx context.Context, tree *mil.Program, r result, d *Difference) error {
	in, src, err := c.alone(ctx, tree, r)
	if err != nil {
		return err
	}
	first, second := c.Modes[0].Rules(), c.Modes[1].Rules()
	exchanged := first ^ second
	d.Rules = exchanged
	at := 0
	for k, i := range d.Index {
		at = at*d.Shape[k] + i
	}
	under := func(rules numerics.Rules) (float64, error) {
		out, err := evaluate(ctx, src, in, soft.Rules(rules), soft.Only(at))
		if err != nil {
			return 0, err
		}
		return element.Load(d.DType, out[d.Value][at*d.DType.Size():]), nil
	}
	same := func(rules numerics.Rules, want float64) (bool, error) {
		got, err := under(rules)
		return got == want || got != got && want != want, err
	}
	wants := d.Got
	if c.Tol > 0 { // the operands may differ; those of the first mode are taken for both
		for i, rules := range []numerics.Rules{first, second} {
			if wants[i], err = under(rules); err != nil {
				return err
			}
		}
		if !c.apart(wants[0], wants[1]) {
			d.Rules, d.Carried = 0, true
			return nil
		}
	}
	for _, try := range []struct {
		from numerics.Rules
		want float64
	}{
		{second, wants[0]}, // without the rule the second mode agrees with the first
		{first, wants[1]},  // with the rule the first mode agrees with the second
	} {
		for _, one := range exchanged.Each() {
			found, err := same(try.from^one, try.want)
			if err != nil {
				return err
			}
			if found {
				d.Rules, d.Alone = one, true
				return nil
			}
		}
	}
	// Several rules: leave out those without which the difference stays complete.
	for _, one := range exchanged.Each() {
		found, err := same(first^(d.Rules&^one), wants[1])
		if err != nil {
			return err
		}
		if found {
			d.Rules &^= one
		}
	}
	return nil
}

// alone is a program of one operator, its constants, and its other operands as inputs.
func (c *Comparison) alone(ctx context.Context, tree *mil.Program, r result) (map[string][]byte, ane.Source, error) {
	f := *tree.Select(c.Source.Function)
	params := f.Params
	f.Params, f.Body, f.Results = nil, nil, []mil.Ref{{Name: r.value.Name}}
	in := map[string][]byte{}
	var computed []result
	for _, v := range r.node.In {
		if v == nil || v.Const() || in[v.Name] != nil {
			continue
		}
		in[v.Name] = c.Inputs[v.Name]
		if !slices.ContainsFunc(params, func(p mil.Var) bool { return p.Name == v.Name }) {
			in[v.Name] = []byte{}
			computed = append(computed, result{value: v})
		}
		f.Params = append(f.Params, mil.Var{Pos: v.Pos, At: v.Pos, Type: v.Type(), Name: v.Name})
	}
	for _, op := range tree.Select(c.Source.Function).Body {
		if slices.ContainsFunc(op.Results, func(v mil.Var) bool { return v.Name == r.value.Name }) {
			f.Body = append(f.Body, op)
			break
		}
		if len(op.Results) > 0 && // a write of a state is no operand
			!slices.ContainsFunc(op.Results, func(v mil.Var) bool { return c.computed[v.Name] }) {
			f.Body = append(f.Body, op) // known when compiling
		}
	}
	if len(computed) > 0 {
		values, err := evaluate(ctx, c.variant(tree, computed), c.Inputs, soft.Numerics(c.Modes[0]))
		if err != nil {
			return nil, ane.Source{}, fmt.Errorf("operands of %s: %w", r.value.Name, err)
		}
		for _, v := range computed {
			in[v.value.Name] = values[v.value.Name]
		}
	}
	return in, c.source(tree, &f), nil
}
