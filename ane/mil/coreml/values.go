package coreml

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

// typed reads a Value.
func (r *reader) typed(v value) *mil.Value {
	out := &mil.Value{}
	content := value{}
	r.each(v, func(name string, v value) {
		switch name {
		case "type":
			out.Type = r.typ(v)
		case "docString":
			r.note("a value has a docString, which MIL text cannot express")
		default:
			content = v
		}
	})
	switch {
	case r.err != nil:
	case content.is == "":
		r.fail(v.b, broken, "a value is missing")
	case out.Type.Kind == mil.Scalar && out.Type.DType == mil.NoType:
		r.fail(v.b, broken, "a value has no type")
	case content.is == "BlobFileValue":
		out.Literal = r.blob(content)
	default:
		out.Literal = r.immediate(out.Type, content)
	}
	return out
}

// blob reads a BlobFileValue.
func (r *reader) blob(v value) *mil.Blob {
	var path string
	var offset uint64
	r.each(v, func(name string, v value) {
		if name == "fileName" {
			path = v.str()
		} else {
			offset = v.n
		}
	})
	scalar := func(d mil.DType, l mil.Literal) *mil.Value {
		return &mil.Value{Type: r.scalar(d), Literal: l}
	}
	return &mil.Blob{Path: scalar(mil.String, mil.StringLit{Value: path}),
		Offset: scalar(mil.UInt64, mil.Number{Text: strconv.FormatUint(offset, 10)})}
}

// scalar returns the type of a scalar in the dialect of the program.
func (r *reader) scalar(d mil.DType) mil.Type {
	if r.boxed {
		return mil.TensorOf(d)
	}
	return mil.ScalarOf(d)
}

// immediate reads an ImmediateValue of type t. Values inside it have their literals alone in MIL text.
func (r *reader) immediate(t mil.Type, v value) (l mil.Literal) {
	r.each(v, func(name string, v value) {
		switch name {
		case "tensor":
			l = r.elements(t, v)
		case "tuple":
			l = &mil.TupleLit{Items: r.items(v)}
		case "list":
			l = &mil.ListLit{Items: r.items(v)}
		case "dictionary":
			l = r.dict(v)
		}
	})
	if l == nil {
		r.fail(v.b, broken, "a value is empty")
	}
	return l
}

func (r *reader) items(v value) []mil.Literal {
	list := []mil.Literal{}
	r.each(v, func(_ string, v value) { list = append(list, r.typed(v).Literal) })
	return list
}

// dict reads a DictionaryValue, whose order has no meaning, in the order of its keys.
func (r *reader) dict(v value) *mil.DictLit {
	d := &mil.DictLit{}
	texts := true
	r.each(v, func(_ string, pair value) {
		var p mil.Pair
		r.each(pair, func(name string, v value) {
			if l := r.typed(v).Literal; name == "key" {
				p.Key = l
			} else {
				p.Value = l
			}
		})
		if p.Key == nil || p.Value == nil {
			r.fail(pair.b, broken, "an entry of a dictionary is incomplete")
		}
		_, isText := p.Key.(mil.StringLit)
		texts = texts && isText
		d.Pairs = append(d.Pairs, p)
	})
	if texts {
		slices.SortStableFunc(d.Pairs, func(a, b mil.Pair) int {
			return cmp.Compare(a.Key.(mil.StringLit).Value, b.Key.(mil.StringLit).Value)
		})
	}
	return d
}

// elements reads a TensorValue of type t, row-major: nested lists, or a flat one if those take too much memory.
func (r *reader) elements(t mil.Type, v value) mil.Literal {
	if t.Kind != mil.Scalar && t.Kind != mil.Tensor {
		r.fail(v.b, broken, "elements where the type is %v", t)
		return nil
	}
	var list []mil.Literal
	r.each(v, func(name string, v value) {
		switch name {
		case "floats", "doubles":
			reals := r.repeatedReals(v)
			list = r.numbers(t.DType, len(reals), func(i int) float64 { return reals[i] })
		case "ints", "longInts", "bools":
			wholes := r.repeatedInts(v)
			list = r.wholes(t.DType, len(wholes), func(i int) int64 { return wholes[i] })
		case "strings":
			list = r.texts(t.DType, v)
		case "bytes":
			list = r.bytes(t, v)
		}
	})
	n, ok := t.Elements()
	switch {
	case r.err != nil:
		return nil
	case ok && n != len(list):
		r.fail(v.b, broken, "%d elements in a value of type %v", len(list), t)
		return nil
	case len(t.Dims) == 0:
		return list[0]
	case !ok || n == 0:
		return &mil.ListLit{Items: list}
	}
	if !r.affords(t, len(v.b)) {
		return &mil.ListLit{Items: list}
	}
	for i := len(t.Dims) - 1; i > 0; i-- {
		list = nest(list, t.Dims[i].Size)
	}
	return &mil.ListLit{Items: list}
}

// affords reports whether nested lists for a value of some bytes take a bounded multiple of its memory, or of what the
// file has to spare. Axes of length 1 make as many lists as there are elements, each.
func (r *reader) affords(t mil.Type, bytes int) bool {
	const element, list, most = 16, 64, 128
	n, lists := 1, 0
	for _, d := range t.Dims {
		n *= d.Size
		lists += n
	}
	switch cost := (lists - n) * list; {
	case cost+n*element <= most*bytes:
	case cost <= r.spare:
		r.spare -= cost
	default:
		return false
	}
	return true
}

// nest makes lists of n elements each.
func nest(list []mil.Literal, n int) []mil.Literal {
	rows := make([]mil.Literal, 0, len(list)/n)
	for row := range slices.Chunk(list, n) {
		rows = append(rows, &mil.ListLit{Items: row})
	}
	return rows
}

func (r *reader) repeatedReals(v value) (list []float64) {
	r.each(v, func(_ string, v value) { list = r.reals(list, v) })
	return list
}

func (r *reader) repeatedInts(v value) (list []int64) {
	r.each(v, func(_ string, v value) { list = r.integers(list, v) })
	return list
}

// numbers makes the literals of n floating-point elements.
func (r *reader) numbers(d mil.DType, n int, at func(int) float64) []mil.Literal {
	if !d.Float() {
		r.fail(r.root[len(r.root):], broken, "floating-point elements in a value of %v", d)
		return nil
	}
	out := make([]mil.Literal, n)
	known := map[uint64]mil.Literal{} // shared by equal elements, so that these take little memory
	for i := range out {
		x := at(i)
		bits := math.Float64bits(x)
		l, ok := known[bits]
		if !ok {
			l = mil.FP32Scalar(x).Literal
			if len(known) < maxShared {
				known[bits] = l
			}
		}
		out[i] = l
	}
	return out
}

// maxShared is how many distinct elements of a value are shared.
const maxShared = 1 << 12

// wholes makes the literals of n integers or truth values.
func (r *reader) wholes(d mil.DType, n int, at func(int) int64) []mil.Literal {
	if !d.Integer() && d != mil.Bool {
		r.fail(r.root[len(r.root):], broken, "integer elements in a value of %v", d)
		return nil
	}
	out := make([]mil.Literal, n)
	known := map[int64]mil.Literal{}
	for i := range out {
		n := at(i)
		l, ok := known[n]
		if !ok {
			switch {
			case d == mil.Bool:
				l = mil.BoolLit{Value: n != 0}
			case d.Unsigned() && d.Bits() == 64:
				l = mil.Number{Text: strconv.FormatUint(uint64(n), 10)}
			default:
				l = mil.Number{Text: strconv.FormatInt(n, 10)}
			}
			if len(known) < maxShared {
				known[n] = l
			}
		}
		out[i] = l
	}
	return out
}

func (r *reader) texts(d mil.DType, v value) (list []mil.Literal) {
	if d != mil.String {
		r.fail(v.b, broken, "texts in a value of %v", d)
	}
	r.each(v, func(_ string, v value) { list = append(list, mil.StringLit{Value: v.str()}) })
	return list
}

// bytes reads elements that are bytes in place of numbers: little endian, those below 8 bits without gaps from the low
// bits up, or one in each byte.
func (r *reader) bytes(t mil.Type, v value) []mil.Literal {
	var raw []byte
	r.each(v, func(_ string, v value) { raw = v.b })
	d := t.DType
	bits := d.Bits()
	n, ok := t.Elements()
	switch {
	case bits == 0:
		r.fail(v.b, broken, "bytes in a value of %v", d)
		return nil
	case ok && bits < 8 && len(raw) == (n*bits+7)/8 && n <= 8*len(raw):
		raw = spread(raw, n, bits)
		bits = 8
	case bits < 8:
		bits = 8
	case len(raw)%(bits/8) != 0:
		r.fail(v.b, broken, "%d bytes in a value of %v", len(raw), d)
		return nil
	}
	size := bits / 8
	at := func(i int) int64 { return integer(d, raw[i*size:(i+1)*size]) }
	if !d.Float() {
		return r.wholes(d, len(raw)/size, at)
	}
	return r.numbers(d, len(raw)/size, func(i int) float64 {
		switch x := at(i); d {
		case mil.FP16:
			return float64(fp16.Bits(x).Float32())
		case mil.BF16:
			return float64(math.Float32frombits(uint32(x) << 16))
		case mil.FP32:
			return float64(math.Float32frombits(uint32(x)))
		default:
			return math.Float64frombits(uint64(x))
		}
	})
}

// spread gives each of n elements of some bits a byte.
func spread(packed []byte, n, bits int) []byte {
	out := make([]byte, n)
	for i := range out {
		for j := range bits {
			at := i*bits + j
			out[i] |= packed[at/8] >> (at % 8) & 1 << j
		}
	}
	return out
}

// integer returns a little endian word, with the sign of d.
func integer(d mil.DType, word []byte) int64 {
	var b [8]byte
	copy(b[:], word)
	u := binary.LittleEndian.Uint64(b[:])
	if !d.Integer() || d.Unsigned() {
		return int64(u)
	}
	free := 64 - d.Bits()
	return int64(u<<free) >> free
}
