package lint

import (
	"errors"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// resolve resolves the names of a function and infers its types.
func (r *run) resolve(f *mil.Function) *function {
	fn := &function{Function: f, values: map[string]*value{}}
	for _, p := range f.Params {
		v := newValue(p)
		v.input = true
		if seen, err := ops.Parameter(p); err == nil {
			v.seen = seen
		} else if v.fixed && !v.state {
			fn.fail(p.Pos, err)
		}
		fn.values[p.Name] = v
		fn.inputs = append(fn.inputs, v)
	}
	for _, op := range f.Body {
		fn.statement(op)
	}
	for _, out := range f.Results {
		if v := fn.values[out.Name]; v != nil {
			v.returned = true
			fn.outputs = append(fn.outputs, v)
		}
	}
	return fn
}

func newValue(p mil.Var) *value {
	v := &value{name: p.Name, at: p.At, typ: p.Type, dtype: p.Type.DType}
	t := p.Type
	if t.Kind == mil.State && len(t.Elems) == 1 {
		v.state, t = true, t.Elems[0]
		v.dtype = t.DType
	}
	if t.Kind == mil.Tensor || t.Kind == mil.Scalar {
		v.shape, v.fixed = t.Shape()
	}
	return v
}

// fail records the faults of err, at pos unless they have places.
func (fn *function) fail(pos mil.Pos, err error) {
	var list mil.ErrorList
	var one *mil.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = mil.ErrorList{one}
	default:
		list = mil.ErrorList{{Msg: err.Error()}}
	}
	for _, e := range list {
		at := *e
		if !at.Pos.Known() {
			at.Pos = pos
		}
		fn.faults = append(fn.faults, &at)
	}
}

func (fn *function) statement(op *mil.Op) {
	s := &stmt{Op: op}
	for _, r := range op.Results {
		v := newValue(r)
		v.made = s
		s.out = append(s.out, v)
	}
	if op.Kind == "const" {
		fn.constant(s)
	} else {
		fn.call(s)
	}
	for _, v := range s.out {
		if v.seen == nil && v.fixed && len(v.shape) <= ops.MaxRank {
			v.seen = &ops.Value{DType: v.dtype, Shape: v.shape}
		}
		if v.seen != nil {
			v.seen.Name = v.name
		}
		fn.values[v.name] = v
	}
	fn.stmts = append(fn.stmts, s)
}

// literal returns the value of a typed literal.
func (fn *function) literal(m *mil.Value) *value {
	v := newValue(mil.Var{Pos: m.Pos, At: m.Pos, Type: m.Type})
	v.lit, v.folded = m, true
	seen, _, err := ops.Constant(m)
	switch {
	case err == nil:
		v.seen = seen
	case v.fixed && v.dtype.Size() == 0 || !v.fixed: // types that operators may not take
	default:
		fn.fail(m.Pos, err)
	}
	return v
}

// val returns the literal of a const.
func val(args ...[]mil.Arg) *mil.Value {
	for _, list := range args {
		for _, a := range list {
			if a.Name == "val" {
				v, _ := a.Value.(*mil.Value)
				return v
			}
		}
	}
	return nil
}

func (fn *function) constant(s *stmt) {
	m := val(s.Attrs, s.Args)
	if m == nil || len(s.out) != 1 {
		fn.faults = append(fn.faults, &mil.Error{Pos: s.Pos, Msg: "const without one result and a typed val",
			Hint: `write T n = const()[name = string("n"), val = T(literal)]`})
		return
	}
	v, out := fn.literal(m), s.out[0]
	out.lit, out.folded = m, true
	if v.seen != nil {
		same := *v.seen
		out.seen = &same
		if !v.seen.Type().Same(out.typ) {
			fn.mismatch(s.Results[0], v.seen.Type())
		}
	}
}

// mismatch records that a declared type is not the inferred one.
func (fn *function) mismatch(declared mil.Var, inferred mil.Type) {
	fn.faults = append(fn.faults, &mil.Error{Pos: declared.Pos, Hint: "declare it as " + inferred.String(),
		Msg: declared.Name + ": Expected " + inferred.String() + "; got " + declared.Type.String()})
}

// call resolves the arguments of an operation and infers its results.
func (fn *function) call(s *stmt) {
	given := s.Args
	if s.constexpr() {
		given = slices.Concat(s.Args, slices.DeleteFunc(slices.Clone(s.Attrs), func(a mil.Arg) bool {
			return a.Name == "name"
		}))
	}
	complete := true
	var operands []ops.Operand
	for i := range given {
		a := fn.argument(s, &given[i])
		s.args = append(s.args, a)
		o := ops.Operand{Name: a.name, List: a.list}
		for _, v := range a.values {
			v.users = append(v.users, s)
			complete = complete && v.seen != nil
			o.Values = append(o.Values, v.seen)
		}
		complete = complete && len(a.values) > 0
		operands = append(operands, o)
	}
	tensors := s.tensors()
	folded := s.constexpr() || len(tensors) > 0
	for _, v := range tensors {
		folded = folded && v.folded
	}
	for _, v := range s.out {
		v.folded = folded
	}
	var placed []ops.Operand
	for _, a := range s.args {
		o := ops.Operand{Name: a.name, List: a.list}
		for _, v := range a.values {
			o.Values = append(o.Values, v.operand())
		}
		placed = append(placed, o)
	}
	var results []*ops.Value
	for _, v := range s.out {
		results = append(results, v.operand())
	}
	s.node = ops.NewNode(s.Op, placed, results)
	if s.node.Def == nil {
		fn.unknown = append(fn.unknown, s)
		return
	}
	if !complete {
		return
	}
	fn.infer(s, operands)
}

// infer holds the declared results against the rule of the operator.
func (fn *function) infer(s *stmt, operands []ops.Operand) {
	out, _, err := ops.Infer(s.Kind, operands...)
	if err != nil {
		var list mil.ErrorList
		if errors.As(err, &list) {
			for _, e := range list { // the message begins with OPERATOR: ARGUMENT:
				if name, _, ok := strings.Cut(strings.TrimPrefix(e.Msg, s.Kind+": "), ":"); ok && !e.Pos.Known() {
					if a := s.arg(name); a != nil {
						e.Pos = a.source.Start()
					}
				}
			}
		}
		fn.fail(s.Pos, err)
		return
	}
	if len(out) != len(s.out) {
		fn.faults = append(fn.faults, &mil.Error{Pos: s.Pos, Hint: "declare every result",
			Msg: s.Kind + ": the number of declared results differs"})
		return
	}
	for i, v := range out {
		if v.Type().Same(s.out[i].typ) {
			s.out[i].seen = v
		} else {
			fn.mismatch(s.Results[i], v.Type())
		}
	}
}

// argument resolves an operand.
func (fn *function) argument(s *stmt, m *mil.Arg) *arg {
	a := &arg{name: m.Name, pos: m.Pos, source: m.Value}
	items := []mil.Operand{m.Value}
	if list, ok := m.Value.(*mil.Values); ok {
		items, a.list = list.Items, true
	}
	for _, o := range items {
		switch o := o.(type) {
		case mil.Ref:
			if v := fn.values[o.Name]; v != nil {
				a.values = append(a.values, v)
				continue
			}
		case *mil.Value:
			if isBare(o) {
				a.bare = true
				o = &mil.Value{Pos: o.Pos, Type: mil.ScalarOf(bareType(s, fn, m.Name, o)), Literal: o.Literal}
			}
			a.values = append(a.values, fn.literal(o))
			continue
		case *mil.Nested:
			if v := val(o.Attrs, o.Args); v != nil {
				a.values = append(a.values, fn.literal(v))
				continue
			}
		}
		a.values = nil // not resolved; mil.Validate reports names
		return a
	}
	return a
}

// bareType returns the type that a literal without one most likely has: that of the other operands for a tensor.
func bareType(s *stmt, fn *function, name string, v *mil.Value) mil.DType {
	n, isNumber := v.Literal.(mil.Number)
	if !isNumber {
		return mil.Bool
	}
	fraction := strings.ContainsAny(n.Text, ".xXpPeE") || strings.HasSuffix(n.Text, "inf") || strings.HasSuffix(n.Text,
		"nan")
	def := ops.Lookup(s.Kind)
	setting := def != nil && slices.ContainsFunc(def.Params, func(p ops.Param) bool {
		return p.Name == name &&
			p.Const
	})
	if setting && !fraction && !floatSetting(name) {
		return mil.Int32
	}
	for _, a := range s.Args {
		if ref, ok := a.Value.(mil.Ref); ok && a.Name != name {
			if o := fn.values[ref.Name]; o != nil && (o.dtype.Float() || !fraction && o.dtype.Integer()) {
				return o.dtype
			}
		}
	}
	if fraction || setting && floatSetting(name) {
		return mil.FP16
	}
	return mil.Int32
}

// floatSetting reports whether a setting of this name is a number with a fraction in every operator.
func floatSetting(name string) bool {
	return slices.Contains([]string{"epsilon", "alpha", "beta", "k", "constant_val", "scale"}, name)
}
