package soft_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// nd is a tensor of the reference implementations: exact values, row-major.
type nd struct {
	d     mil.DType
	shape []int
	v     []float64
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func zeros(d mil.DType, shape ...int) nd { return nd{d, shape, make([]float64, volume(shape))} }

// index is the position of an element by the definition of row-major order.
func (a nd) index(i []int) int {
	at := 0
	for k, n := range a.shape {
		at = at*n + i[k]
	}
	return at
}

func (a nd) at(i ...int) float64     { return a.v[a.index(i)] }
func (a nd) set(f float64, i ...int) { a.v[a.index(i)] = f }

// each visits every index of a shape in row-major order.
func each(shape []int, visit func(i []int)) {
	i := make([]int, len(shape))
	for range volume(shape) {
		visit(i)
		for k := len(i) - 1; k >= 0; k-- {
			if i[k]++; i[k] < shape[k] {
				break
			}
			i[k] = 0
		}
	}
}

// tensorType formats a type.
func tensorType(d mil.DType, shape []int) string {
	return "tensor<" + d.String() + ", " + ints(shape) + ">"
}

// ints formats a list.
func ints(list []int) string {
	var s []string
	for _, n := range list {
		s = append(s, strconv.Itoa(n))
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// intVec and boolVec format settings.
func intVec(list ...int) string { return fmt.Sprintf("tensor<int32, [%d]>(%s)", len(list), ints(list)) }

func boolVec(list ...bool) string {
	var s []string
	for _, b := range list {
		s = append(s, strconv.FormatBool(b))
	}
	return fmt.Sprintf("tensor<bool, [%d]>([%s])", len(list), strings.Join(s, ", "))
}

// literal formats a tensor as a typed literal.
func (a nd) literal() string {
	var s []string
	for _, f := range a.v {
		switch {
		case a.d == mil.Bool:
			s = append(s, strconv.FormatBool(f != 0))
		case a.d.Integer():
			s = append(s, strconv.FormatInt(int64(f), 10))
		case math.IsNaN(f):
			s = append(s, "nan")
		case math.IsInf(f, 0):
			s = append(s, strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "Inf", "inf", 1)[map[bool]int{true: 0,
				false: 1}[f < 0]:])
		default:
			s = append(s, strconv.FormatFloat(f, 'x', -1, 64))
		}
	}
	body := "[" + strings.Join(s, ", ") + "]"
	if len(a.shape) == 0 {
		body = s[0]
	}
	return tensorType(a.d, a.shape) + "(" + body + ")"
}

// operand is one tensor of a tested operation.
type operand struct {
	arg   string // "x"; "values" may occur several times
	value nd
	fixed bool // a constant of the program, not an input
}

// operation is one statement with its operands and expected results.
type operation struct {
	op       string
	in       []operand
	settings string // ", axis = int32(1)"
	want     []nd   // types and shapes are declared, so inference is tested too
}

// text returns the program that contains only o.
func (o operation) text() string {
	var params, consts, args, results, names []string
	lists := map[string][]string{}
	for i, a := range o.in {
		name := "i" + strconv.Itoa(i)
		if a.fixed {
			consts = append(consts, fmt.Sprintf("%s %s = const()[name = string(%q), val = %s];\n",
				tensorType(a.value.d, a.value.shape), name, name, a.value.literal()))
		} else {
			params = append(params, tensorType(a.value.d, a.value.shape)+" "+name)
		}
		if a.arg == "values" || a.arg == "ref_tensors" {
			lists[a.arg] = append(lists[a.arg], name)
			continue
		}
		args = append(args, a.arg+" = "+name)
	}
	for arg, list := range lists {
		args = append(args, arg+" = ("+strings.Join(list, ", ")+")")
	}
	for i, w := range o.want {
		names = append(names, "o"+strconv.Itoa(i))
		results = append(results, tensorType(w.d, w.shape)+" "+names[i])
	}
	return fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%s) {\n%s%s = %s(%s%s)[name = string(\"o\")];\n} -> "+
		"(%s);\n}\n",
		strings.Join(params, ", "), strings.Join(consts, ""), strings.Join(results, ", "), o.op,
		strings.Join(args, ", "), o.settings, strings.Join(names, ", "))
}

// run evaluates o on an engine and returns the bytes of its results, row-major.
func (o operation) run(t rapid.TB) [][]byte {
	t.Helper()
	in := map[string][]byte{}
	for i, a := range o.in {
		if !a.fixed {
			in["i"+strconv.Itoa(i)] = encode(a.value)
		}
	}
	out := evaluate(t, o.text(), in)
	var list [][]byte
	for i := range o.want {
		list = append(list, out["o"+strconv.Itoa(i)])
	}
	return list
}

// exact runs o and compares every bit, also of what a setting takes.
func (o operation) exact(t rapid.TB) {
	t.Helper()
	o.settled(t)
	for k, got := range o.run(t) {
		want := encode(o.want[k])
		if string(want) == string(got) {
			continue
		}
		size := o.want[k].d.Size()
		for i := range o.want[k].v {
			g, w := got[i*size:][:size], want[i*size:][:size]
			if string(g) != string(w) && !(isNaN(o.want[k].d, g) && isNaN(o.want[k].d, w)) {
				t.Fatalf("result %d, element %d of %v: got %x = %v, want %x = %v\n%s", k, i, o.want[k].shape, g,
					load(o.want[k].d, g), w, load(o.want[k].d, w), clip(o.text()))
			}
		}
	}
}

// near runs o and allows each element the error that bound returns.
func (o operation) near(t rapid.TB, bound func(result, i int, want float64) float64) {
	t.Helper()
	for k, got := range o.run(t) {
		size := o.want[k].d.Size()
		for i, w := range o.want[k].v {
			g := load(o.want[k].d, got[i*size:])
			if math.IsNaN(w) && math.IsNaN(g) || g == w {
				continue
			}
			r := load(o.want[k].d, store(o.want[k].d, w)) // an overflow is not an error
			if g == r {
				continue
			}
			if d := math.Abs(g - w); !(d <= bound(k, i, w)) {
				t.Fatalf("result %d, element %d of %v: got %v, want %v, off by %v, allowed %v\n%s", k, i,
					o.want[k].shape, g, w, d, bound(k, i, w), clip(o.text()))
			}
		}
	}
}

// oneUlp is the bound of a value that is computed more precisely than it is
// stored: half a unit in the last place for its rounding, and another half
// because the last bit of float64 may decide a tie the other way.
func (o operation) oneUlp(k, _ int, want float64) float64 { return ulp(o.want[k].d, want) }

func clip(s string) string {
	if len(s) > 1500 {
		return s[:1500] + " .."
	}
	return s
}

// evaluate compiles text and runs main on the packed inputs. The kind of memory
// changes with each call.
func evaluate(t rapid.TB, text string, in map[string][]byte) map[string][]byte {
	t.Helper()
	out, err := tryEvaluate(t, text, in)
	require.NoError(t, err, clip(text))
	return out
}

var turn int // the kind of memory for the next evaluate; tests of this package run one at a time

func tryEvaluate(t rapid.TB, text string, in map[string][]byte) (map[string][]byte, error) {
	t.Helper()
	ctx := context.Background()
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	m, err := dev.Compile(ctx, ane.Source{File: "test.mil", Text: []byte(text)})
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, m.Close(ctx)) }()
	if err := m.Load(ctx); err != nil {
		return nil, err
	}
	mem := memory{t: t, kind: turn % 3}
	if t, ok := t.(*rapid.T); ok { // a case that fails does so again
		mem.kind = rapid.IntRange(0, 2).Draw(t, "kind of memory")
	}
	turn++
	defer mem.close()
	ins, outs := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
	for _, l := range m.Inputs() {
		ins[l.Name] = mem.tensor(l)
		if data, given := in[l.Name]; given {
			n, err := ins[l.Name].Write(data)
			require.NoError(t, err)
			require.Equal(t, len(data), n)
		}
	}
	for _, l := range m.Outputs() {
		outs[l.Name] = mem.tensor(l)
		for i, b := 0, outs[l.Name].Bytes(); i < len(b); i++ {
			b[i] = 0xA5 // shows bytes that the engine does not write
		}
	}
	req, err := m.Bind(ins, outs)
	require.NoError(t, err)
	_, err = m.Evaluate(ctx, req)
	require.NoError(t, err)
	require.NoError(t, req.Close())
	got := map[string][]byte{}
	for name, tensor := range outs {
		got[name] = make([]byte, tensor.Layout().PackedBytes())
		_, err := tensor.Read(got[name])
		require.NoError(t, err)
		requirePadding(t, tensor)
	}
	for name, data := range in {
		back := make([]byte, len(data))
		_, err := ins[name].Read(back)
		require.NoError(t, err)
		require.Equal(t, string(data), string(back), "input %s was changed", name)
	}
	return got, nil
}

// requirePadding checks that the engine did not write the gaps between rows.
func requirePadding(t rapid.TB, x *ane.Tensor) {
	l, b := x.Layout(), x.Bytes()
	if l.Packed() {
		return
	}
	for i := range l.Rows() {
		for at := l.Row(i) + l.RowBytes(); at < l.Row(i)+l.RowStride; at++ {
			if b[at] != 0xA5 {
				t.Fatalf("%s: byte %d after row %d was written", l, at, i)
			}
		}
	}
}

// memory makes tensors: on Blocks of the heap, on Blocks of the system, or on
// cells with a surface each.
type memory struct {
	t      rapid.TB
	kind   int
	blocks []*unimem.Block
	grids  []*unimem.Grid
	cells  []unimem.Cell
}

func (m *memory) tensor(l ane.Layout) *ane.Tensor {
	m.t.Helper()
	if m.kind == 2 {
		g, err := unimem.NewGrid((l.Bytes()+63)/64*64, 1, unimem.SurfacePerCell())
		require.NoError(m.t, err)
		c, err := g.Take()
		require.NoError(m.t, err)
		m.grids, m.cells = append(m.grids, g), append(m.cells, c)
		x, err := ane.OnCell(c, l)
		require.NoError(m.t, err)
		return x
	}
	var opts []unimem.Option
	if m.kind == 1 {
		opts = append(opts, unimem.OnHeap())
	}
	b, err := unimem.Open(l.Bytes(), opts...)
	require.NoError(m.t, err)
	m.blocks = append(m.blocks, b)
	x, err := ane.OnBlock(b, l)
	require.NoError(m.t, err)
	return x
}

func (m *memory) close() {
	for i, g := range m.grids {
		require.NoError(m.t, g.Give(m.cells[i]))
		require.NoError(m.t, g.Close())
	}
	for _, b := range m.blocks {
		require.NoError(m.t, b.Close())
	}
}

// seeded returns a generator with the same numbers on every run of a test.
func seeded(t testing.TB) *rand.Rand {
	var n uint64
	for _, c := range t.Name() {
		n = n*131 + uint64(c)
	}
	return rand.New(rand.NewPCG(n, 7))
}

// axisLengths: odd lengths pad rows, multiples of 32 leave surfaces packed.
var axisLengths = []int{1, 1, 2, 3, 5, 7, 8, 16, 31, 32, 33}

// randomShape returns a shape of rank lo to hi with at most a few thousand
// elements.
func randomShape(r *rand.Rand, lo, hi int) []int {
	for {
		shape := make([]int, lo+r.IntN(hi-lo+1))
		for i := range shape {
			shape[i] = axisLengths[r.IntN(len(axisLengths))]
		}
		if k := len(shape); k > 0 && r.IntN(3) == 0 {
			shape[k-1] = 32 * (1 + r.IntN(2))
		}
		if volume(shape) <= 6000 {
			return shape
		}
	}
}

// fill returns a tensor of random values of magnitudes around 1 that its type
// represents exactly.
func fill(r *rand.Rand, d mil.DType, shape ...int) nd {
	a := zeros(d, shape...)
	for i := range a.v {
		switch {
		case d == mil.Bool:
			a.v[i] = float64(r.IntN(2))
		case d.Integer():
			lo, hi := d.Range()
			a.v[i] = math.Trunc(min(max((r.Float64()*400-200), float64(lo)), float64(hi))) + 0 // no -0
			if r.IntN(20) == 0 {
				a.v[i] = float64(lo)
			} else if r.IntN(20) == 0 {
				a.v[i] = float64(hi)
			}
		default:
			a.v[i] = load(d, store(d, r.NormFloat64()*2))
		}
	}
	return a
}

// specials are values at the borders of rounding, ranges and signs.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, 0x1p-24, -0x1p-24, 0x1.ff8p-15, 0x1p-14, 65504, -65504,
	math.Inf(1), math.Inf(-1), math.NaN(), 2048, 2049, 0x1.004p0, 0x1.ffcp0, 0.1, -0.3, 11.09375, -11, 3, 1024.5}

// special returns a tensor of values from specials.
func special(r *rand.Rand, d mil.DType, shape ...int) nd {
	a := zeros(d, shape...)
	for i := range a.v {
		a.v[i] = load(d, store(d, specials[r.IntN(len(specials))]))
	}
	return a
}
