package lint

import (
	"errors"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// function is a function of the program with its names resolved. Declared types are believed.
type function struct {
	*mil.Function
	values  map[string]*value
	inputs  []*value
	stmts   []*stmt
	outputs []*value
	faults  []*mil.Error // of types, with positions
	unknown []*stmt      // whose operator the table of operators does not have
	events  []event      // of the analysis of ranges
}

// value is an input, a constant or a result.
type value struct {
	name     string
	at       mil.Pos
	typ      mil.Type
	dtype    mil.DType
	shape    []int      // nil if not fixed
	fixed    bool       // a tensor or scalar whose every axis has a size
	input    bool       // a parameter
	state    bool       // a state parameter
	lit      *mil.Value // of a constant
	made     *stmt      // that computes it
	users    []*stmt
	returned bool
	folded   bool // known when compiling: a constant, or computed from constants alone
	seen     *ops.Value
	span     span
	summed   bool // its rows along the last axis add up to at most 1
}

// stmt is a statement.
type stmt struct {
	*mil.Op
	args []*arg
	out  []*value
}

// arg is an argument of a statement.
type arg struct {
	name   string
	pos    mil.Pos // of the name
	source mil.Operand
	values []*value // none is nil; empty if not resolved
	bare   bool     // a literal without a type
	list   bool
}

// arg returns the argument called name, or nil.
func (s *stmt) arg(name string) *arg {
	for _, a := range s.args {
		if a.name == name {
			return a
		}
	}
	return nil
}

// in returns the value of an argument that is no list, or nil.
func (s *stmt) in(name string) *value {
	if a := s.arg(name); a != nil && !a.list && len(a.values) == 1 {
		return a.values[0]
	}
	return nil
}

// result returns the first result, or nil.
func (s *stmt) result() *value {
	if len(s.out) == 0 {
		return nil
	}
	return s.out[0]
}

// tensors lists the operands that are tensors, without settings.
func (s *stmt) tensors() (all []*value) {
	def := ops.Lookup(s.Kind)
	for _, a := range s.args {
		if def != nil && slices.ContainsFunc(def.Params, func(p ops.Param) bool {
			return p.Name == a.name &&
				p.Const
		}) {
			continue
		}
		for _, v := range a.values {
			if v.dtype != mil.String {
				all = append(all, v)
			}
		}
	}
	return all
}

// constexpr reports whether the statement expands a weight.
func (s *stmt) constexpr() bool { return strings.HasPrefix(s.Kind, "constexpr_") }

// ints returns the whole numbers of a setting; false if it is absent or not in the text.
func (s *stmt) ints(name string) ([]int, bool) {
	v := s.in(name)
	if v == nil || v.lit == nil || v.lit.Blob() != nil || !v.dtype.Integer() {
		return nil, false
	}
	list, err := v.lit.Ints()
	if err != nil {
		return nil, false
	}
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out, true
}

// integer returns a single whole number, def if it is absent.
func (s *stmt) integer(name string, def int) int {
	if list, ok := s.ints(name); ok && len(list) == 1 {
		return list[0]
	}
	return def
}

// flag returns a truth value, false if it is absent.
func (s *stmt) flag(name string) bool {
	v := s.in(name)
	if v == nil || v.lit == nil || v.dtype != mil.Bool {
		return false
	}
	list, err := v.lit.Bools()
	return err == nil && len(list) == 1 && list[0]
}

// word returns a string, "" if it is absent.
func (s *stmt) word(name string) string {
	v := s.in(name)
	if v == nil || v.lit == nil || v.dtype != mil.String {
		return ""
	}
	if list, err := v.lit.Strings(); err == nil && len(list) == 1 {
		return list[0]
	}
	return ""
}

// number returns a single number of a constant; false if there is none.
func (v *value) number() (float64, bool) {
	if v == nil || v.lit == nil || v.lit.Blob() != nil || v.elements() != 1 {
		return 0, false
	}
	switch {
	case v.dtype.Float():
		if list, err := v.lit.Floats(); err == nil && len(list) == 1 {
			return list[0], true
		}
	case v.dtype.Integer():
		if list, err := v.lit.Ints(); err == nil && len(list) == 1 {
			return float64(list[0]), true
		}
	}
	return 0, false
}

// elements is the number of elements, 0 if the shape is not fixed. It ends at 2^40, which is beyond every limit.
func (v *value) elements() int {
	if v == nil || !v.fixed {
		return 0
	}
	n := 1
	for _, d := range v.shape {
		if d <= 0 || n > 1<<40/d {
			return 1 << 40
		}
		n *= d
	}
	return n
}

// bytes is the size of the packed elements.
func (v *value) bytes() int { return v.elements() * max(v.dtype.Bits(), 1) / 8 }

// nchw returns the shape with leading ones up to four axes: batch, channels, height and width of a surface. The
// depth of a shape of rank 5 counts as channels.
func (v *value) nchw() (n, c, h, w int) {
	s := slices.Clone(v.shape)
	for len(s) < 4 {
		s = append([]int{1}, s...)
	}
	if len(s) == 5 {
		s = []int{s[0], mul(s[1], s[2]), s[3], s[4]}
	}
	return s[0], s[1], s[2], s[3]
}

// mul multiplies up to 2^40.
func mul(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > 1<<40/b {
		return 1 << 40
	}
	return a * b
}

// surface returns the bytes of the rows that a surface of v holds: rows are padded to 64 bytes.
func (v *value) surface() int {
	if !v.fixed || len(v.shape) > 5 {
		return 0
	}
	n, c, h, w := v.nchw()
	row := mul(w, max(v.dtype.Bits(), 8)) / 8
	return mul(mul(n, c), mul(h, (row+63)/64*64))
}

// isBare reports whether a literal has no type.
func isBare(v *mil.Value) bool {
	if v == nil || v.Type.Kind != mil.Scalar || v.Type.DType != mil.NoType {
		return false
	}
	switch v.Literal.(type) {
	case mil.Number, mil.BoolLit:
		return true
	}
	return false
}

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
	if ops.Lookup(s.Kind) == nil {
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
