package oracle_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// oracle evaluates a program in float64 by the definitions of its operators. Beside the parser it shares no code with
// the engine: it has its own loops, its own shapes, its own numbers and its own reader of weight files.
type oracle struct {
	testing.TB
	files   map[string][]byte // weight files by path
	rounded bool              // every result is rounded to its declared type, as an engine of these types does
	op      *mil.Op           // that it evaluates
}

// known is a value: a tensor, a text, or the items of a list.
type known struct {
	nd
	text string
	list []known
}

// scope has the values of a function or of a block by name.
type scope struct {
	outer *scope
	names map[string]known
}

func (s *scope) find(name string) (known, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.names[name]; ok {
			return v, true
		}
	}
	return known{}, false
}

// function evaluates a function on inputs by name.
func (o *oracle) function(f *mil.Function, in map[string]nd) map[string]nd {
	s := &scope{names: map[string]known{}}
	for _, p := range f.Params {
		x, ok := in[p.Name]
		require.True(o, ok, "input %s", p.Name)
		s.names[p.Name] = known{nd: o.round(x)}
	}
	o.body(s, f.Body)
	out := map[string]nd{}
	for _, r := range f.Results {
		v, ok := s.find(r.Name)
		require.True(o, ok, "output %s", r.Name)
		out[r.Name] = v.nd
	}
	return out
}

func (o *oracle) body(s *scope, body []*mil.Op) {
	for _, op := range body {
		o.op = op
		for i, v := range o.results(s, op) {
			r := op.Results[i]
			if v.list == nil && v.text == "" && r.Type.DType != mil.String && // the label of classify, an index here
				(r.Type.Kind == mil.Tensor || r.Type.Kind == mil.Scalar) {
				v.d = r.Type.DType
				o.fits(r, v.shape)
				v.nd = o.round(v.nd)
			}
			s.names[r.Name] = v
		}
	}
}

// fits compares a shape with the declared one.
func (o *oracle) fits(r mil.Var, shape []int) {
	require.Len(o, r.Type.Dims, len(shape), "%s %s: %v", o.op.Kind, r.Name, shape)
	for i, d := range r.Type.Dims {
		require.True(o, !d.Known() || d.Size == shape[i], "%s %s: %v where %v is declared", o.op.Kind, r.Name, shape,
			r.Type)
	}
}

// round rounds to the type of the tensor.
func (o *oracle) round(x nd) nd {
	if !o.rounded || x.d != mil.FP16 && x.d != mil.FP32 {
		return x
	}
	y := nd{x.d, x.shape, make([]float64, len(x.v))}
	for i, f := range x.v {
		if y.v[i] = float64(float32(f)); x.d == mil.FP16 {
			y.v[i] = toHalf(f)
		}
	}
	return y
}

// toHalf rounds to the nearest number of 11 binary digits, half to even, with subnormals and infinity.
func toHalf(f float64) float64 {
	_, exp := math.Frexp(f)
	unit := math.Ldexp(1, max(exp-11, -24))
	switch r := math.RoundToEven(f/unit) * unit; {
	case f == 0 || math.IsNaN(f) || math.IsInf(f, 0):
		return f
	case math.Abs(r) > 65504:
		return math.Inf(int(r))
	default:
		return r
	}
}

// fromHalf is the number with the given bits.
func fromHalf(bits uint16) float64 {
	sign, exp, frac := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// literal is the value of a typed literal or of an entry of a weight file.
func (o *oracle) literal(v *mil.Value) known {
	t := v.Type
	shape, fixed := t.Shape()
	require.True(o, fixed, "%v", t)
	x := zeros(t.DType, shape...)
	switch b := v.Blob(); {
	case b != nil:
		path, at, err := b.Entry()
		require.NoError(o, err)
		file := o.files[path]
		require.Equal(o, uint32(0xDEADBEEF), binary.LittleEndian.Uint32(file[at:]))
		data := file[binary.LittleEndian.Uint64(file[at+16:]):]
		for i := range x.v {
			switch t.DType {
			case mil.FP16:
				x.v[i] = fromHalf(binary.LittleEndian.Uint16(data[2*i:]))
			case mil.FP32:
				x.v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
			case mil.Int32:
				x.v[i] = float64(int32(binary.LittleEndian.Uint32(data[4*i:])))
			case mil.Bool:
				x.v[i] = float64(data[i])
			default:
				require.Fail(o, "no reader of weights", "%v", t)
			}
		}
	case t.DType == mil.String:
		list, err := v.Strings()
		require.NoError(o, err)
		return known{text: list[0]}
	case t.DType == mil.Bool:
		list, err := v.Bools()
		require.NoError(o, err)
		for i, b := range list {
			x.v[i] = truth(b)
		}
	case t.DType.Integer():
		list, err := v.Ints()
		require.NoError(o, err)
		for i, n := range list {
			x.v[i] = float64(n)
		}
	default:
		list, err := v.Floats()
		require.NoError(o, err)
		copy(x.v, list)
	}
	return known{nd: o.round(x)}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// call has the arguments of an operation by name.
type call struct {
	*oracle
	args map[string][]known
}

func (o *oracle) results(s *scope, op *mil.Op) []known {
	c := call{o, map[string][]known{}}
	for _, a := range slices.Concat(op.Args, op.Attrs) {
		c.args[a.Name] = o.operand(s, a.Value)
	}
	if op.Kind == "const" {
		return c.args["val"]
	}
	if f, ok := structured[op.Kind]; ok {
		return f(c, s, op)
	}
	f, ok := definitions[op.Kind]
	require.True(o, ok, "no definition of %s", op.Kind)
	var all []known
	for _, x := range f(c) {
		all = append(all, known{nd: x})
	}
	return all
}

func (o *oracle) operand(s *scope, a mil.Operand) []known {
	switch a := a.(type) {
	case mil.Ref:
		v, ok := s.find(a.Name)
		require.True(o, ok, "%s: no value %s", o.op.Kind, a.Name)
		return []known{v}
	case *mil.Value:
		if a.Type.Kind != mil.Tensor && a.Type.Kind != mil.Scalar || a.Bare() {
			return nil // a label
		}
		return []known{o.literal(a)}
	case *mil.Values:
		var all []known
		for _, item := range a.Items {
			all = append(all, o.operand(s, item)...)
		}
		return all
	}
	require.Fail(o, "no reader of operands", "%T", a)
	return nil
}

// x is the argument called name.
func (c call) x(name string) nd {
	require.Len(c, c.args[name], 1, "%s: %s", c.op.Kind, name)
	return c.args[name][0].nd
}

func (c call) has(name string) bool { return len(c.args[name]) > 0 }

// ints are the whole numbers of an argument, or def.
func (c call) ints(name string, def ...int) (list []int) {
	if !c.has(name) {
		return def
	}
	for _, f := range c.x(name).v {
		list = append(list, int(f))
	}
	return list
}

func (c call) int(name string, def int) int { return c.ints(name, def)[0] }

func (c call) num(name string, def float64) float64 {
	if !c.has(name) {
		return def
	}
	return c.x(name).v[0]
}

func (c call) flag(name string) bool { return c.num(name, 0) != 0 }

func (c call) word(name, def string) string {
	if !c.has(name) {
		return def
	}
	return c.args[name][0].text
}

// axis is the axis that a number means.
func axis(a, rank int) int {
	if a < 0 {
		a += rank
	}
	return a
}

// axes are those that an argument names, all without it.
func (c call) axes(name string, rank int) (list []int) {
	if !c.has(name) {
		for i := range rank {
			list = append(list, i)
		}
	}
	for _, a := range c.ints(name) {
		list = append(list, axis(a, rank))
	}
	return list
}
