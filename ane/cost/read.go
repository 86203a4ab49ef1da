package cost

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// tensor is a value of the function by its declared type.
type tensor struct {
	name     string
	dtype    mil.DType
	shape    []int
	lit      *mil.Value
	known    bool // when compiling: a constant, or computed from constants alone
	input    bool
	state    bool
	returned bool
	made     *step
	users    []*step
	last     *step   // the latest step that lists it
	stored   int64   // bytes of a constant as the program stores it
	bits     int     // of its elements in that form
	density  float64 // share of the elements of a sparse weight that are stored, else 1
	key      string  // equal for weights that are one
}

// step is an operator that the engine executes.
type step struct {
	*mil.Op
	args map[string][]*tensor
	in   []*tensor // operands that are computed or inputs, each once
	out  []*tensor
	cost ops.Cost
}

// program is a function as the estimate sees it.
type program struct {
	values  map[string]*tensor
	inputs  []*tensor
	outputs []*tensor
	steps   []*step
}

// elements is the number of elements, up to 2^50.
func (t *tensor) elements() float64 {
	n := 1.0
	for _, d := range t.shape {
		n *= float64(max(d, 0))
	}
	return min(n, 1<<50)
}

// bytes is the size of the packed elements.
func (t *tensor) bytes() float64 { return t.elements() * float64(max(t.dtype.Bits(), 1)) / 8 }

// surface is the size of the surface's rows, each padded to 64 bytes.
func (t *tensor) surface() int64 {
	if len(t.shape) == 0 {
		return 64
	}
	row := float64(t.shape[len(t.shape)-1]) * float64(max(t.dtype.Bits(), 8)) / 8
	rows := 1.0
	for _, d := range t.shape[:len(t.shape)-1] {
		rows *= float64(d)
	}
	return int64(min(rows*math.Ceil(row/64)*64, 1<<50))
}

func newTensor(v mil.Var) *tensor {
	typ := v.Type
	t := &tensor{name: v.Name, key: v.Name, density: 1}
	if typ.Kind == mil.State && len(typ.Elems) == 1 {
		t.state, typ = true, typ.Elems[0]
	}
	t.dtype = typ.DType
	t.shape, _ = typ.Shape()
	t.bits = max(t.dtype.Bits(), 1)
	return t
}

// constant makes the value of a typed literal.
func constant(name string, m *mil.Value) *tensor {
	t := newTensor(mil.Var{Name: name, Type: m.Type})
	t.lit, t.known = m, true
	t.stored = int64(math.Ceil(t.bytes()))
	if b := m.Blob(); b != nil {
		if path, offset, err := b.Entry(); err == nil {
			t.key = path + "\x00" + strconv.FormatUint(offset, 10)
		}
	}
	return t
}

// read resolves the names of a function.
func read(f *mil.Function) *program {
	r := &program{values: map[string]*tensor{}}
	for _, p := range f.Params {
		t := newTensor(p)
		t.input = true
		r.values[p.Name] = t
		r.inputs = append(r.inputs, t)
	}
	for _, op := range f.Body {
		r.add(op)
	}
	for _, ref := range f.Results {
		if t := r.values[ref.Name]; t != nil {
			t.returned = true
			r.outputs = append(r.outputs, t)
		}
	}
	return r
}

// val returns the literal of a const, or nil.
func val(lists ...[]mil.Arg) *mil.Value {
	for _, list := range lists {
		for _, a := range list {
			if v, ok := a.Value.(*mil.Value); ok && a.Name == "val" {
				return v
			}
		}
	}
	return nil
}

// add reads a statement.
func (r *program) add(op *mil.Op) {
	if op.Kind == "const" {
		if m := val(op.Attrs, op.Args); m != nil && len(op.Results) == 1 {
			r.values[op.Results[0].Name] = constant(op.Results[0].Name, m)
		}
		return
	}
	s := &step{Op: op, args: map[string][]*tensor{}, cost: ops.Pass}
	if d := ops.Lookup(op.Kind); d != nil {
		s.cost = d.Cost
	}
	expands := strings.HasPrefix(op.Kind, "constexpr_")
	given := op.Args
	if expands {
		given = slices.Concat(op.Args, op.Attrs)
	}
	known := true
	for _, a := range given {
		for _, t := range r.operand(a) {
			s.args[a.Name] = append(s.args[a.Name], t)
			known = known && t.known
			if !t.known && t.last != s {
				s.in, t.last = append(s.in, t), s
			}
		}
	}
	for _, v := range op.Results {
		t := newTensor(v)
		r.values[v.Name] = t
		s.out = append(s.out, t)
		if known || expands {
			t.known = true
			t.stored = int64(math.Ceil(t.bytes()))
		}
		if expands {
			s.expand(t)
		}
	}
	if known || expands {
		return
	}
	for _, t := range s.out {
		t.made = s
	}
	for _, t := range s.in {
		t.users = append(t.users, s)
	}
	r.steps = append(r.steps, s)
}

// expand gives an expanded weight the size of what is stored.
func (s *step) expand(t *tensor) {
	t.stored = 0
	var keys []string
	for name, list := range s.args {
		if name == "name" {
			continue
		}
		for _, a := range list {
			t.stored = min(t.stored+a.stored, 1<<50)
			t.density = min(t.density, a.density)
			keys = append(keys, a.key)
		}
	}
	slices.Sort(keys)
	for _, name := range []string{"quantized_data", "data", "indices", "nonzero_data", "source_val",
		"indices_nonzero_data"} {
		if list := s.args[name]; len(list) == 1 {
			t.bits = list[0].bits
			if k := strings.Join(keys, "\x00"); len(k) < 1<<10 { // weights of weights would double it
				t.key = k
			}
		}
	}
	if list := s.args["nonzero_data"]; strings.Contains(s.Kind, "sparse") && len(list) == 1 && t.elements() > 0 {
		t.density = min(list[0].elements()/t.elements(), 1)
	}
}

// operand lists the values of an argument.
func (r *program) operand(a mil.Arg) (all []*tensor) {
	items := []mil.Operand{a.Value}
	if list, ok := a.Value.(*mil.Values); ok {
		items = list.Items
	}
	for _, o := range items {
		switch o := o.(type) {
		case mil.Ref:
			if t := r.values[o.Name]; t != nil {
				all = append(all, t)
			}
		case *mil.Value:
			all = append(all, constant("", o))
		case *mil.Nested:
			if m := val(o.Attrs, o.Args); m != nil {
				all = append(all, constant("", m))
			}
		}
	}
	return all
}

// arg returns a single operand, or nil.
func (s *step) arg(name string) *tensor {
	if list := s.args[name]; len(list) == 1 {
		return list[0]
	}
	return nil
}

// ints returns the whole numbers of a setting, nil if the text does not have them.
func (s *step) ints(name string) (out []int) {
	t := s.arg(name)
	if t == nil || t.lit == nil || t.lit.Blob() != nil || !t.dtype.Integer() {
		return nil
	}
	list, err := t.lit.Ints()
	if err != nil {
		return nil
	}
	for _, n := range list {
		out = append(out, int(n))
	}
	return out
}

// integer returns a whole number, def if there is none.
func (s *step) integer(name string, def int) int {
	if list := s.ints(name); len(list) == 1 {
		return list[0]
	}
	return def
}

// flag returns a truth value.
func (s *step) flag(name string) bool {
	t := s.arg(name)
	if t == nil || t.lit == nil || t.dtype != mil.Bool {
		return false
	}
	list, err := t.lit.Bools()
	return err == nil && len(list) == 1 && list[0]
}

// word returns a string.
func (s *step) word(name string) string {
	t := s.arg(name)
	if t == nil || t.lit == nil || t.dtype != mil.String {
		return ""
	}
	if list, err := t.lit.Strings(); err == nil && len(list) == 1 {
		return list[0]
	}
	return ""
}

// at returns a length of the shape from its end: at(0) is the last axis, 1 where there is none.
func (t *tensor) at(i int) int {
	if t == nil || i >= len(t.shape) {
		return 1
	}
	return t.shape[len(t.shape)-1-i]
}
