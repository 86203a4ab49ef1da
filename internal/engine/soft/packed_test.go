package soft_test

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/buildinfo"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// held are weights that stay where they are: constants by their offset, and the number of holders.
type held struct {
	at      map[uint64][]byte
	holders int
	held    int
}

func (h *held) ReadFile(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func (h *held) Constant(path string, offset uint64, _ mil.Type) ([]byte, error) {
	if data, ok := h.at[offset]; ok && path == "held" {
		return data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func (h *held) Hold() (func(), error) {
	h.holders++
	h.held++
	return func() { h.holders-- }, nil
}

// quantized is a random weight: integers in blocks with scales and perhaps offsets.
type quantized struct {
	rows, cols  int
	high, wide  int // of a block
	d           mil.DType
	offset      mil.DType // NoType for none
	data, zeros []byte    // integers as bytes; offsets as elements
	scale       []fp16.Bits
	extreme     bool
}

var packedTypes = []mil.DType{mil.UInt2, mil.UInt3, mil.Int4, mil.UInt4, mil.UInt6, mil.Int8, mil.UInt8}

// divisor returns a divisor of n.
func divisor(r *rand.Rand, n int) int {
	d := 1 + r.IntN(n)
	for n%d != 0 {
		d--
	}
	return d
}

func newQuantized(r *rand.Rand, d mil.DType, rows, cols, high, wide int, offset mil.DType, extreme bool) *quantized {
	q := &quantized{rows: rows, cols: cols, high: high, wide: wide, d: d, offset: offset, extreme: extreme}
	low, top := d.Range()
	integer := func() byte { return byte(int(low) + r.IntN(int(top)-int(low)+1)) }
	for range rows * cols {
		q.data = append(q.data, integer())
	}
	for range rows / high * (cols / wide) {
		s := fp16.FromFloat64((0.5 + r.Float64()) / 64)
		if extreme {
			s = fp16.Bits(r.IntN(0x7c00)) | fp16.Bits(r.IntN(2))<<15
		}
		q.scale = append(q.scale, s)
		switch offset {
		case mil.NoType:
		case mil.FP16, mil.FP32:
			e := make([]byte, 4)
			f := r.Float64() * float64(int(1)<<d.Bits())
			if extreme {
				f = math.Ldexp(r.Float64()-0.5, r.IntN(60)-40)
			}
			element.Store(offset, e, f)
			q.zeros = append(q.zeros, e[:offset.Size()]...)
		default:
			q.zeros = append(q.zeros, integer())
		}
	}
	return q
}

// storedOf has the elements as a weight file does.
func storedOf(d mil.DType, elements []byte) []byte {
	if d.Bits() >= 8 {
		return elements
	}
	numbers := make([]float64, len(elements))
	for i, e := range elements {
		numbers[i] = float64(e)
	}
	return encode(pack(numbers, d.Bits()))
}

func bytesOf(h []fp16.Bits) []byte {
	out := make([]byte, 0, 2*len(h))
	for _, b := range h {
		out = le.AppendUint16(out, uint16(b))
	}
	return out
}

// blobs gives the weight's constants as weights of a kind: in a weight file, or held in memory.
func (q *quantized) blobs(inFile bool) (w ane.Weights, path string, offsets [3]uint64) {
	parts := []struct {
		d    mil.DType
		data []byte
	}{{q.d, storedOf(q.d, q.data)}, {mil.FP16, bytesOf(q.scale)}, {q.offset, nil}}
	if q.offset != mil.NoType {
		parts[2].data = storedOf(q.offset, q.zeros)
	}
	h := &held{at: map[uint64][]byte{}}
	var file blob.Writer
	at := uint64(3) // an offset that no weight file has
	for i, p := range parts {
		if p.data == nil {
			continue
		}
		if !inFile {
			one := append([]byte{0}, p.data...)[1:] // begins at an odd address
			h.at[at], offsets[i] = one[:len(one):len(one)], at
			at += uint64(len(p.data))
			continue
		}
		unused := 0
		if p.d.Bits() < 8 {
			n := len(q.scale)
			if i == 0 {
				n = len(q.data)
			}
			unused = 8*len(p.data) - n*p.d.Bits()
		}
		offset, err := file.Add(p.d, p.data, unused)
		if err != nil {
			panic(err)
		}
		offsets[i] = offset
	}
	if inFile {
		return ane.Files{"file": file.Bytes()}, "file", offsets
	}
	return h, "held", offsets
}

// packedCase is a product, or a lookup, with a quantized weight.
type packedCase struct {
	op    string // linear, linear+bias, matmul, matmul-t, matmul-left, conv, gather
	m     int    // rows, positions or indices of the other operand
	w     *quantized
	x     []fp16.Bits // the other operand; empty for gather
	index []int
	bias  []fp16.Bits
	words bool // the program asks for products of words
}

// text returns the program.
func (p *packedCase) text(path string, offsets [3]uint64, expanded bool) string {
	q, suffix := p.w, ""
	if p.op == "conv" {
		suffix = ", 1, 1"
	}
	constant := func(name string, d mil.DType, rows, cols int, offset uint64) string {
		t := fmt.Sprintf("tensor<%v, [%d, %d%s]>", d, rows, cols, suffix)
		return fmt.Sprintf("%[1]s %[2]s = const()[name = string(%[2]q), val = %[1]s(BLOBFILE(path = string(%[3]q), offset = "+
			"uint64(%[4]d)))];\n", t, name, path, offset)
	}
	br, bc := q.rows/q.high, q.cols/q.wide
	body := constant("q", q.d, q.rows, q.cols, offsets[0]) + constant("s", mil.FP16, br, bc, offsets[1])
	args := "data = q, scale = s"
	if q.offset != mil.NoType {
		body += constant("o", q.offset, br, bc, offsets[2])
		args += ", offset = o"
	}
	shape := fmt.Sprintf("[%d, %d%s]", q.rows, q.cols, suffix)
	body += fmt.Sprintf("tensor<fp16, %s> w = constexpr_blockwise_shift_scale(%s);\n", shape, args)
	w := "w"
	if expanded {
		n := 2 + strings.Count(suffix, ",")
		body += fmt.Sprintf("tensor<fp16, %s> v = reshape(x = w, shape = tensor<int32, [%d]>(%s));\n", shape, n, shape)
		w = "v"
	}
	var in, out, op string
	switch p.op {
	case "linear", "linear+bias":
		in, out = fmt.Sprintf("[%d, %d]", p.m, q.cols), fmt.Sprintf("[%d, %d]", p.m, q.rows)
		op = fmt.Sprintf("linear(x = x, weight = %s)", w)
		if p.bias != nil {
			op = fmt.Sprintf("linear(x = x, weight = %s, bias = %s)", w, halvesOf(fmt.Sprintf("[%d]", q.rows), p.bias))
		}
	case "matmul":
		in, out = fmt.Sprintf("[%d, %d]", p.m, q.rows), fmt.Sprintf("[%d, %d]", p.m, q.cols)
		op = fmt.Sprintf("matmul(x = x, y = %s)", w)
	case "matmul-t":
		in, out = fmt.Sprintf("[%d, %d]", p.m, q.cols), fmt.Sprintf("[%d, %d]", p.m, q.rows)
		op = fmt.Sprintf("matmul(x = x, y = %s, transpose_y = bool(true))", w)
	case "matmul-left":
		in, out = fmt.Sprintf("[%d, %d]", q.cols, p.m), fmt.Sprintf("[%d, %d]", q.rows, p.m)
		op = fmt.Sprintf("matmul(x = %s, y = x)", w)
	case "conv":
		in, out = fmt.Sprintf("[1, %d, 1, %d]", q.cols, p.m), fmt.Sprintf("[1, %d, 1, %d]", q.rows, p.m)
		op = fmt.Sprintf("conv(x = x, weight = %s)", w)
	case "gather":
		var index []string
		for _, i := range p.index {
			index = append(index, fmt.Sprint(i))
		}
		in, out = fmt.Sprintf("[%d, %d]", p.m, q.cols), fmt.Sprintf("[%d, %d]", p.m, q.cols)
		body += fmt.Sprintf("tensor<int32, [%d]> i = const()[val = tensor<int32, [%[1]d]>([%[2]s])];\n"+
			"tensor<fp16, %[3]s> g = gather(x = %[4]s, indices = i, axis = int32(0));\n", p.m, strings.Join(index, ", "),
			out, w)
		op = "select(cond = bool(true), a = g, b = x)"
	}
	info := ""
	if p.words {
		info = fmt.Sprintf("[buildInfo = dict<string, string>({{%q, %q}})]\n", buildinfo.Products, buildinfo.Words)
	}
	return fmt.Sprintf("program(1.3)\n%s{\nfunc main<ios18>(tensor<fp16, %s> x) {\n%stensor<fp16, %s> y = %s;\n} -> "+
		"(y);\n}\n", info, in, body, out, op)
}

// run returns the result.
func (p *packedCase) run(t testing.TB, inFile, expanded bool, opts ...soft.Option) []fp16.Bits {
	t.Helper()
	w, path, offsets := p.w.blobs(inFile)
	text := p.text(path, offsets, expanded)
	d, err := ane.Open(soft.New(opts...), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{File: "packed.mil", Text: []byte(text), Weights: w})
	require.NoError(t, err, text)
	defer func() {
		require.NoError(t, m.Close(t.Context()))
		if h, ok := w.(*held); ok {
			require.Zero(t, h.holders, "holders after Close")
			require.Equal(t, 1, h.held)
		}
	}()
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	_, err = r.Input("x").Write(bytesOf(p.x))
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	data := make([]byte, m.Outputs()[0].PackedBytes())
	_, err = r.Output("y").Read(data)
	require.NoError(t, err)
	out := make([]fp16.Bits, len(data)/2)
	for i := range out {
		out[i] = fp16.Bits(le.Uint16(data[2*i:]))
	}
	return out
}

var packedOps = []string{"linear", "linear+bias", "matmul", "matmul-t", "matmul-left", "conv", "gather"}

// newPackedCase returns a random case.
func newPackedCase(r *rand.Rand, op string, extreme bool) *packedCase {
	rows, cols := 1+r.IntN(70), 1+r.IntN(200)
	if r.IntN(2) == 0 {
		cols = 32 * (1 + r.IntN(10))
	}
	high, wide := 1, divisor(r, cols)
	if cols%32 == 0 && r.IntN(2) == 0 {
		wide = []int{32, 64, 128}[r.IntN(3)]
		if cols%wide != 0 {
			wide = 32
		}
	}
	if r.IntN(3) == 0 {
		high = divisor(r, rows)
	}
	if op == "matmul" && r.IntN(2) == 0 {
		high, wide = divisor(r, rows), 1
	}
	d := packedTypes[r.IntN(len(packedTypes))]
	offset := []mil.DType{mil.NoType, d, mil.FP16, mil.FP32}[r.IntN(4)]
	p := &packedCase{op: op, m: []int{1, 1, 2, 5, 17, 70}[r.IntN(6)],
		w: newQuantized(r, d, rows, cols, high, wide, offset, extreme)}
	number := func() fp16.Bits {
		if extreme {
			return fp16.Bits(r.IntN(0x7c00)) | fp16.Bits(r.IntN(2))<<15
		}
		return fp16.FromFloat64(r.NormFloat64())
	}
	n := p.m * cols
	if op == "matmul" {
		n = p.m * rows
	}
	for range n {
		p.x = append(p.x, number())
	}
	for range p.m {
		p.index = append(p.index, r.IntN(rows))
	}
	if op == "linear+bias" {
		for range rows {
			p.bias = append(p.bias, fp16.FromFloat64(r.NormFloat64()))
		}
	}
	return p
}

// vectors reports whether the reference mode has other sums for the packed weight: those of package packed.
func (p *packedCase) vectors() bool {
	tiled := p.words && (p.op == "linear" || p.op == "linear+bias" || p.op == "matmul-t") && p.w.rows >= 16 && p.w.wide%32 == 0 &&
		(p.w.d.Bits() == 4 || p.w.d.Bits() == 8)
	return (p.m == 1 || tiled) && p.op != "matmul" && p.op != "gather" && p.w.high == 1
}

// TestPackedIsExpanded: a program computes with packed weights what it computes with the same weights expanded, in
// every mode: the same bits, but within the bound of package packed for the vectors of the reference mode, and for
// several where it asks for products of words.
func TestPackedIsExpanded(t *testing.T) {
	r := seeded(t)
	modes := []numerics.Mode{numerics.Reference, numerics.M1, numerics.M2, numerics.M4, numerics.M5, numerics.M6}
	for k := range effort.Cases(420) {
		p := newPackedCase(r, packedOps[k%len(packedOps)], k%5 == 4)
		mode := modes[k/len(packedOps)%len(modes)]
		inFile := r.IntN(2) == 0
		want := p.run(t, inFile, true, soft.Numerics(mode), soft.PackFrom(1))
		for _, p.words = range []bool{false, true} {
			got := p.run(t, inFile, false, soft.Numerics(mode), soft.PackFrom(1))
			name := fmt.Sprintf("%d: %s of %d, %v %dx%d blocks %dx%d offset %v in mode %v, words: %v", k, p.op, p.m, p.w.d,
				p.w.rows, p.w.cols, p.w.high, p.w.wide, p.w.offset, mode, p.words)
			if mode == numerics.Reference && p.vectors() {
				p.near(t, name, want, got)
				continue
			}
			require.Equal(t, want, got, name)
		}
	}
}

// near compares within the error of two sums of cols products. Products of integers of 4 and 8 bits do not round elements
// to halves, round elements of the vector (package packed says how far), and add up integers and offsets apart.
func (p *packedCase) near(t *testing.T, name string, want, got []fp16.Bits) {
	t.Helper()
	q := p.w
	places, lane := 0x1p-15, 32
	if p.m == 1 && q.d.Bits() == 4 {
		places, lane = 0x1p-22, 128
	}
	for i := range want {
		sum, integers := 0.0, 0.0
		row, vector := i%q.rows, p.x[i/q.rows*q.cols:][:q.cols]
		for k := range q.cols {
			w, x := math.Abs(float64(q.value(row, k).Float32())), math.Abs(float64(vector[k].Float32()))
			sum += w * x
			if q.d.Bits() != 4 && (q.d.Bits() != 8 || !p.words) {
				continue
			}
			most := 0.0
			for _, other := range vector[k/128*128 : min(k/128*128+128, q.cols)] {
				most = max(most, math.Abs(float64(other.Float32())))
			}
			scale, offset := q.factors(row, k)
			apart := math.Abs(scale) * (1.5*float64(int(1)<<q.d.Bits()) + math.Abs(offset)) * x
			integers += w*(x*0x1p-11+most*places) + x*0x1p-25 + apart*float64(q.cols/lane+q.cols/q.wide+12)*0x1p-24
		}
		w, g := float64(want[i].Float32()), float64(got[i].Float32())
		if want[i] == got[i] || w != w && g != g {
			continue
		}
		bound := float64(q.cols)*0x1p-23*sum + integers + math.Abs(w)*0x1p-10 + 0x1p-24
		if sum > 65504 { // the one rounds to infinity, the other not
			continue
		}
		require.InDelta(t, w, g, bound, "%s: element %d", name, i)
	}
}

// value is an element by the definition.
func (q *quantized) value(row, col int) fp16.Bits {
	scale, offset := q.factors(row, col)
	return fp16.FromFloat64(scale * (element.Load(q.d, q.data[row*q.cols+col:]) - offset))
}

// factors are the scale and the offset of an element.
func (q *quantized) factors(row, col int) (scale, offset float64) {
	block := row/q.high*(q.cols/q.wide) + col/q.wide
	if q.offset != mil.NoType {
		offset = element.Load(q.offset, q.zeros[block*element.Size(q.offset):])
	}
	return float64(q.scale[block].Float32()), offset
}

// TestPackedLookup: gather of packed rows gives the elements by the definition.
func TestPackedLookup(t *testing.T) {
	r := seeded(t)
	for range 60 {
		p := newPackedCase(r, "gather", false)
		var want []fp16.Bits
		for _, i := range p.index {
			for k := range p.w.cols {
				want = append(want, p.w.value(i, k))
			}
		}
		require.Equal(t, want, p.run(t, true, false, soft.PackFrom(1)))
	}
}

// Weights that are no single matrix are expanded, and a matrix of more columns than a tile has is read in parts: the
// results are those of expanded weights.
func TestPackedShapes(t *testing.T) {
	r := seeded(t)
	weight := func(shape ...int) string {
		list := make([]string, volume(shape))
		for i := range list {
			list[i] = fmt.Sprint(r.IntN(16) - 8)
		}
		ones, scale := append(shape[:1:1], slices.Repeat([]int{1}, len(shape)-1)...), make([]fp16.Bits, shape[0])
		for i := range scale {
			scale[i] = fp16.FromFloat64(0.25 + r.Float64())
		}
		return fmt.Sprintf("tensor<fp16, %[1]s> w = constexpr_blockwise_shift_scale(data = tensor<int4, %[1]s>([%[2]s]), "+
			"scale = %[3]s);\n", ints(shape), strings.Join(list, ", "), halvesOf(ints(ones), scale))
	}
	for _, c := range []struct {
		x, y       []int
		weight, op string
	}{
		{[]int{40, 6}, []int{40, 300}, weight(6, 300), "matmul(x = x, y = w)"},
		{[]int{1, 6}, []int{1, 300}, weight(6, 300), "matmul(x = x, y = w)"},
		{[]int{2, 9, 5}, []int{2, 9, 7}, weight(2, 5, 7), "matmul(x = x, y = w)"},
		{[]int{2, 7, 5}, []int{2, 9, 5}, weight(2, 9, 7), "matmul(x = w, y = x)"},
		{[]int{1, 4, 3, 5}, []int{1, 6, 2, 3}, weight(6, 4, 2, 3), "conv(x = x, weight = w)"},
		{[]int{1, 4, 3, 5}, []int{1, 6, 3, 5}, weight(6, 2, 1, 1), "conv(x = x, weight = w, groups = int32(2))"},
		{[]int{2, 4, 3, 5}, []int{2, 6, 3, 5}, weight(6, 4, 1, 1), "conv(x = x, weight = w)"},
		{[]int{1, 4, 3, 5}, []int{1, 6, 1, 1}, weight(6, 4, 1, 1),
			"conv(x = x, weight = w, strides = tensor<int32, [2]>([3, 5]))"},
		{[]int{1, 512, 1, 32}, []int{1, 512, 1, 32}, weight(512, 512, 1, 1), "conv(x = x, weight = w)"}, // large, few columns
	} {
		text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(tensor<fp16, %s> x) {\n%stensor<fp16, %s> y = %s;\n} -> "+
			"(y);\n}\n", ints(c.x), c.weight, ints(c.y), c.op)
		x := signed(r, 0x3000, 0x4400, volume(c.x))
		for _, m := range []numerics.Mode{numerics.Reference, numerics.M6} {
			requireHalves(t, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m), soft.PackFrom(1<<30)),
				evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m), soft.PackFrom(1)), fmt.Sprint(m, c.x, c.op))
		}
	}
}
