// Package gemm writes the assembly of the software engine's package of that name that is for strips of columns.
package gemm

import (
	"fmt"

	"github.com/anekit/anekit/internal/asm/emit"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the rows of a strip that a step of a loop takes.
const unroll = 4

// Write writes all functions.
func Write(f *emit.File) {
	w := width{emit.Width{File: f, Bits: 256}}
	for _, t := range []struct {
		name string
		tile
	}{{"stripTile", tile{w, 6, 2}}, {"halfTile", tile{w, 12, 1}}} {
		f.Func(t.name, "(rows int, c, a, b *float32, n, k, depth, tiles int, add bool)", fmt.Sprintf(
			`multiplies 1 to %d rows of A by %d columns of depth rows of a strip, and as many rows after them until there are
tiles. n is the distance between rows of C, k that between rows of A. Sums begin with C if add is set, else with +0.`,
			t.rows, 8*t.vectors))
		for rows := t.rows; rows > 0; rows-- {
			f.When("rows", rows, tile{w, rows, t.vectors}.write)
		}
		f.RET()
	}
	const copied = `copies rows of a matrix into strips. Rows are byRow floats apart in a strip and from elements apart in
the matrix, strips are byStrip floats apart.`
	f.Func("stripFloats", "(dst, src *float32, rows, strips, byRow, byStrip, from int)", copied)
	w.pack(false)
	f.Func("stripHalves", "(dst *float32, src *half, rows, strips, byRow, byStrip, from int)", copied)
	w.pack(true)
	f.Func("stripTurned", "(dst *float32, src *half, sixteens, from int)",
		"makes rows of a strip, sixteens times 16, of the elements of 16 rows that are from elements apart.")
	w.turn()
	f.Func("decodeRows", "(dst *float32, src *half, rows, pieces, to, from int)",
		"decodes rows of pieces of 32 elements. They are to floats apart, and before that from elements.")
	w.decode()
	w.writePicked()
	f.Func("fetchRows", "(src *half, rows, lines, from int)",
		"asks the second-level cache for the lines of 64 bytes of rows that are from elements apart.")
	w.fetch()
	f.Func("dotRows", "(vectors int, sums *float32, by int, x *float32, stride int, rows *half, from, pieces, pairs int)",
		`adds the products of 1 to 6 vectors, stride elements apart, with pairs of rows of pieces of 32 halves, which are from
elements apart, to sums, by elements apart for each vector.`)
	for vectors := range 6 {
		f.When("vectors", vectors+1, func() { w.dots(vectors + 1) })
	}
	f.RET()
	f.Func("addEights", "(dst, b *float32, eights int)", "sets dst to b plus dst, eights times eight elements.")
	w.add(false)
	f.Func("addEach", "(dst, b *float32, eights int)", "adds the number at b to eights times eight elements of dst.")
	w.add(true)
	f.Func("halfLines", "(sums, vector *float32, x *half, rows, blocks, stride int)",
		"adds the products of rows of blocks of 32 halves with a vector to sums; rows are stride elements apart.")
	w.lines()
}

// width writes instructions for vectors of one width.
type width struct{ emit.Width }

// tile is some rows of some vectors of C.
type tile struct {
	width
	rows, vectors int
}

// lines are pointers to each third row, so that those between have an address each.
type lines struct {
	each []reg.GPVirtual
	step reg.GPVirtual // bytes from one row to the next
}

// from returns pointers to the rows from first on.
func (t tile) from(first, step reg.GPVirtual) lines {
	l := lines{[]reg.GPVirtual{t.GP64()}, step}
	t.MOVQ(first, l.each[0])
	for i := 3; i < t.rows; i += 3 {
		next := t.GP64()
		t.LEAQ(Mem{Base: l.each[i/3-1], Index: step, Scale: 2}, next)
		t.ADDQ(step, next)
		l.each = append(l.each, next)
	}
	return l
}

// at is memory some bytes from the beginning of row i.
func (l lines) at(i, bytes int) Mem {
	m := Mem{Base: l.each[i/3], Disp: bytes}
	if i%3 > 0 {
		m.Index, m.Scale = l.step, uint8(i%3)
	}
	return m
}

func (t tile) write() {
	c, a, n, k := t.Whole(t.Param("c")), t.Whole(t.Param("a")), t.Whole(t.Param("n")), t.Whole(t.Param("k"))
	t.SHLQ(Imm(2), n)
	t.SHLQ(Imm(2), k)
	t.Times("tile", t.Whole(t.Param("tiles")), func() {
		t.summed(func() lines { return t.from(c, n) }, func(sums []reg.VecVirtual) {
			left := t.from(a, k)
			t.products(sums, factors{
				at:   func(i, u int) Mem { return left.at(i, 4*u) },
				next: func(count int) { t.advance(left.each, 4*count) },
			})
		})
		for range t.rows {
			t.ADDQ(n, c)
			t.ADDQ(k, a)
		}
	})
	t.End()
}

// summed calls add with the sums of a tile, which are in C before and after it.
func (t tile) summed(c func() lines, add func(sums []reg.VecVirtual)) {
	sums := t.Vectors(t.rows * t.vectors)
	each := func(f func(sum reg.Register, at Mem)) {
		l := c()
		for i, s := range sums {
			f(s, l.at(i/t.vectors, i%t.vectors*32))
		}
	}
	begin, zero := t.Fresh("begin"), t.Fresh("zero")
	t.CMPB(t.Place(t.Param("add")), Imm(0))
	t.JEQ(zero)
	each(func(s reg.Register, at Mem) { t.VMOVUPS(at, s) })
	t.JMP(begin)
	t.Here(zero)
	for _, s := range sums {
		t.VXORPS(s, s, s)
	}
	t.Here(begin)
	add(sums)
	each(func(s reg.Register, at Mem) { t.VMOVUPS(s, at) })
}

// factors are the elements of A in a product with a strip.
type factors struct {
	begin func(u int) // of row u of the strip, counted in a step of the loop; may be nil
	at    func(i, u int) Mem
	next  func(count int) // after some rows of the strip
	later bool            // the second factors: the first of two NaNs is the product
}

func (w width) advance(pointers []reg.GPVirtual, bytes int) {
	for _, p := range pointers {
		w.Add(bytes, p)
	}
}

// products adds the products of rows of A and of a strip to sums.
func (t tile) products(sums []reg.VecVirtual, left factors) {
	b, depth := t.Whole(t.Param("b")), t.Whole(t.Param("depth"))
	few, done, many := t.Fresh("few"), t.Fresh("done"), t.Fresh("many")
	steps := func(count int) {
		right := t.Vectors(t.vectors)
		for u := range count {
			if left.begin != nil {
				left.begin(u)
			}
			for v, r := range right {
				t.VMOVUPS(emit.At(b, u*64+v*32), r)
			}
			for i := range t.rows {
				s := t.Vector()
				t.VBROADCASTSS(left.at(i, u), s)
				for v, r := range right {
					first, second := s, r
					if left.later {
						first, second = r, s
					}
					t.VFMADD231PS(second, first, sums[i*t.vectors+v])
				}
			}
		}
		t.Add(count*64, b)
		left.next(count)
	}
	t.SUBQ(Imm(unroll), depth)
	t.JLT(few)
	t.Here(many)
	steps(unroll)
	t.SUBQ(Imm(unroll), depth)
	t.JGE(many)
	t.Here(few)
	t.ADDQ(Imm(unroll), depth)
	t.JEQ(done)
	t.Times("step", depth, func() { steps(1) })
	t.Here(done)
}

// pack goes along each row, as memory lies, and fetches the line that is some rows below.
func (w width) pack(halves bool) {
	dst, src := w.Whole(w.Param("dst")), w.Whole(w.Param("src"))
	byRow, byStrip, from := w.Whole(w.Param("byRow")), w.Whole(w.Param("byStrip")), w.Whole(w.Param("from"))
	size, shift := 4, uint64(2)
	if halves {
		size, shift = 2, 1
	}
	w.SHLQ(Imm(2), byRow)
	w.SHLQ(Imm(2), byStrip)
	w.SHLQ(Imm(shift), from)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		to, at := w.GP64(), w.GP64()
		w.MOVQ(dst, to)
		w.MOVQ(src, at)
		w.Times("strip", w.Whole(w.Param("strips")), func() {
			low, high := w.Vector(), w.Vector()
			w.PREFETCHT0(Mem{Base: at, Index: from, Scale: rowsAhead})
			if halves {
				w.VCVTPH2PS(emit.At(at, 0), low)
				w.VCVTPH2PS(emit.At(at, 16), high)
			} else {
				w.VMOVUPS(emit.At(at, 0), low)
				w.VMOVUPS(emit.At(at, 32), high)
			}
			w.VMOVUPS(low, emit.At(to, 0))
			w.VMOVUPS(high, emit.At(to, 32))
			w.Add(16*size, at)
			w.ADDQ(byStrip, to)
		})
		w.ADDQ(byRow, dst)
		w.ADDQ(from, src)
	})
	w.End()
}

// turn transposes 16 elements of 8 rows at a time, and then those of the 8 rows below: 16 rows that are a page apart
// would be in one set of a first-level cache.
func (w width) turn() {
	from := w.Whole(w.Param("from"))
	w.SHLQ(Imm(1), from)
	for half := range 2 {
		dst, src := w.Whole(w.Param("dst")), w.Whole(w.Param("src"))
		if half > 0 {
			w.LEAQ(Mem{Base: src, Index: from, Scale: 8}, src)
		}
		left := tile{width: w, rows: 8}.from(src, from)
		w.Times("sixteen", w.Whole(w.Param("sixteens")), func() {
			r := w.Vectors(8)
			for i := range r {
				w.VMOVDQU(left.at(i, 0), r[i])
			}
			// Of registers i and i+4 the elements alternate, three times: then register i has element i of each row.
			for range 3 {
				next := w.Vectors(8)
				for i := range 4 {
					w.VPUNPCKLWD(r[i+4], r[i], next[2*i])
					w.VPUNPCKHWD(r[i+4], r[i], next[2*i+1])
				}
				r = next
			}
			for i, v := range r {
				low, high, after := w.Vector(), w.Vector(), w.XMM()
				w.VCVTPH2PS(v.AsX(), low)
				w.VEXTRACTI128(Imm(1), v, after)
				w.VCVTPH2PS(after, high)
				w.VMOVUPS(low, emit.At(dst, 64*i+32*half))
				w.VMOVUPS(high, emit.At(dst, 64*(i+8)+32*half))
			}
			w.Add(16*64, dst)
			w.advance(left.each, 32)
		})
	}
	w.End()
}

// rowsAhead is how many rows before it is decoded an element is fetched.
const rowsAhead = 4

func (w width) decode() {
	dst, src := w.Whole(w.Param("dst")), w.Whole(w.Param("src"))
	to, from := w.Whole(w.Param("to")), w.Whole(w.Param("from"))
	w.SHLQ(Imm(2), to)
	w.SHLQ(Imm(1), from)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		row, at := w.GP64(), w.GP64()
		w.MOVQ(dst, row)
		w.MOVQ(src, at)
		w.Times("piece", w.Whole(w.Param("pieces")), func() {
			w.PREFETCHT0(Mem{Base: at, Index: from, Scale: rowsAhead})
			r := w.Vectors(4)
			for i := range r {
				w.VCVTPH2PS(emit.At(at, 16*i), r[i])
			}
			for i := range r {
				w.VMOVUPS(r[i], emit.At(row, 32*i))
			}
			w.Add(64, at)
			w.Add(128, row)
		})
		w.ADDQ(to, dst)
		w.ADDQ(from, src)
	})
	w.End()
}

func (w width) fetch() {
	src, from := w.Whole(w.Param("src")), w.Whole(w.Param("from"))
	w.SHLQ(Imm(1), from)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		at := w.GP64()
		w.MOVQ(src, at)
		w.Times("line", w.Whole(w.Param("lines")), func() {
			w.PREFETCHT1(emit.At(at, 0))
			w.Add(64, at)
		})
		w.ADDQ(from, src)
	})
	w.RET()
}

// add adds one number, the second summand, or as many numbers as there are elements, the first summands. The first of
// two NaNs is the sum.
func (w width) add(one bool) {
	dst, b, number := w.Whole(w.Param("dst")), w.Whole(w.Param("b")), w.Vector()
	if one {
		w.VBROADCASTSS(emit.At(b, 0), number)
	}
	w.Times("eight", w.Whole(w.Param("eights")), func() {
		r := w.Vector()
		if one {
			w.VMOVUPS(emit.At(dst, 0), r)
			w.VADDPS(number, r, r)
		} else {
			w.VMOVUPS(emit.At(b, 0), r)
			w.VADDPS(emit.At(dst, 0), r, r)
			w.Add(32, b)
		}
		w.VMOVUPS(r, emit.At(dst, 0))
		w.Add(32, dst)
	})
	w.End()
}

// linesAhead is how many bytes before they are multiplied halves are fetched: the processor reads ahead in a page alone.
const linesAhead = 1024

// lines multiplies one row after the other, so that memory is read as it lies: several rows at once take half as long
// again.
func (w width) lines() {
	sums, x, stride := w.Whole(w.Param("sums")), w.Whole(w.Param("x")), w.Whole(w.Param("stride"))
	w.SHLQ(Imm(1), stride)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		at, vector, lanes := w.GP64(), w.Whole(w.Param("vector")), w.Vectors(4)
		w.MOVQ(x, at)
		for _, r := range lanes {
			w.VXORPS(r, r, r)
		}
		w.Times("block", w.Whole(w.Param("blocks")), func() {
			w.PREFETCHT0(emit.At(at, linesAhead))
			for i, r := range lanes {
				f := w.Vector()
				w.VCVTPH2PS(emit.At(at, 16*i), f)
				w.VFMADD231PS(emit.At(vector, 32*i), f, r)
			}
			w.Add(64, at)
			w.Add(128, vector)
		})
		w.VADDPS(lanes[2], lanes[0], lanes[0])
		w.VADDPS(lanes[3], lanes[1], lanes[1])
		w.VADDPS(lanes[1], lanes[0], lanes[0])
		high, sum := w.XMM(), lanes[0].AsX()
		w.VEXTRACTF128(Imm(1), lanes[0], high)
		w.VADDPS(high, sum, sum)
		for _, order := range []uint64{0x4e, 0xb1} {
			w.VPSHUFD(Imm(order), sum, high)
			w.VADDPS(high, sum, sum)
		}
		w.VADDSS(emit.At(sums, 0), sum, sum)
		w.VMOVSS(sum, emit.At(sums, 0))
		w.Add(4, sums)
		w.ADDQ(stride, x)
	})
	w.End()
}
