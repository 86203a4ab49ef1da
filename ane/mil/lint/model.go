package lint

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
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
	node *ops.Node
}

// family is the family of the operator, 0 for one that the table does not have.
func (s *stmt) family() ops.Family {
	if s.node == nil || s.node.Def == nil {
		return 0
	}
	return s.node.Def.Family
}

// moves reports whether the operator copies elements without computing any.
func (s *stmt) moves() bool {
	return s.node.Def != nil && (s.node.Def.Cost == ops.Moves || s.node.Def.Cost == ops.Free)
}

// operand returns the value as package ops knows it.
func (v *value) operand() *ops.Value {
	o := &ops.Value{Name: v.name, DType: v.dtype, Shape: v.shape, Folded: v.folded}
	if v.seen != nil {
		same := *v.seen
		same.Name, same.Folded = v.name, v.folded
		o = &same
	}
	return o
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
