package spatial

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rolling is the code for windows of n x n positions that are step apart. It goes down a column of vectors and loads
// each row of the plane once, for all rows of results that have it under their windows.
type rolling struct {
	width
	n, step                      int
	s                            gotypes.Component
	at, pitch, other, spare, dst reg.GPVirtual // other is from the even places of a row of the plane to the odd ones
	weights                      []Op          // registers, or memory
	x, wrong                     reg.VecVirtual
	sums                         []reg.VecVirtual // of rows of results in turn
}

// spareWeights is where weights are in the spare memory, after the vectors of bias, more, least and most.
const spareWeights = 4 * 32

// rollAll writes the code for all windows that have some.
func (w width) rollAll() {
	for _, n := range []int{3, 5} {
		for _, step := range []int{1, 2} {
			s, other := w.Dereference(w.Param("s")), w.Fresh("windows")
			w.CMPQ(w.Place(s.Field("taps")), Imm(uint64(n*n)))
			w.JNE(other)
			w.CMPQ(w.Place(s.Field("roll")), Imm(uint64(step)))
			w.JNE(other)
			r := &rolling{width: w, n: n, step: step, s: s, x: w.Vector(), wrong: w.Zero(), at: w.GP64(), dst: w.GP64(),
				sums: w.Vectors((n-1)/step + 1), pitch: w.Whole(s.Field("high")), spare: w.Whole(s.Field("spare"))}
			r.planes()
			w.Here(other)
		}
	}
}

func (r *rolling) planes() {
	room, column, plane, columns := r.Whole(r.s.Field("room")), r.GP64(), r.Fresh("plane"), r.Fresh("columns")
	r.ADDQ(r.Place(r.s.Field("at")), room)
	if r.step == 2 {
		r.SHRQ(Imm(1), r.pitch)
		r.other = r.Whole(r.s.Field("offsets"))
		r.MOVQ(emit.At(r.other, 8), r.other)
	}
	r.Add(63, r.spare)
	r.ANDQ(I8(-64), r.spare)
	r.keep(r.Place(r.s.Field("least")), 64)
	r.keep(r.Place(r.s.Field("most")), 96)
	r.Here(plane)
	r.weigh()
	r.XORQ(column, column)
	r.Here(columns)
	r.LEAQ(Mem{Base: room, Index: column, Scale: 4}, r.at)
	r.MOVQ(r.Place(r.s.Field("dst")), r.dst)
	r.LEAQ(Mem{Base: r.dst, Index: column, Scale: 2}, r.dst)
	r.down()
	r.advance(column, 8, r.s.Field("lastColumn"), columns)
	r.ADDQ(r.Place(r.s.Field("nextRoom")), room)
	r.ADDQ(r.Whole(r.s.Field("nextResult")), r.Place(r.s.Field("dst")))
	r.DECQ(r.Place(r.s.Field("planes")))
	r.JNE(plane)
	r.VPTEST(r.wrong, r.wrong)
	r.SETNE(r.Place(r.s.Field("wrong")))
	r.End()
}

// keep stores a number in all lanes of a vector of the spare memory.
func (r *rolling) keep(number Mem, at int) {
	r.VBROADCASTSS(number, r.x)
	r.VMOVUPS(r.x, emit.At(r.spare, at))
}

// weigh loads what a plane has of its own, as many weights as fit into registers.
func (r *rolling) weigh() {
	from := r.GP64()
	next := func(field string, bytes int) {
		r.MOVQ(r.Place(r.s.Field(field)), from)
		r.ADDQ(Imm(uint64(bytes)), r.Place(r.s.Field(field)))
	}
	next("bias", 4)
	r.keep(emit.At(from, 0), 0)
	next("more", 4)
	r.keep(emit.At(from, 0), 32)
	next("weights", 4*r.n*r.n)
	r.weights = nil
	for i := range r.n * r.n {
		if v := r.Vector(); i < 13-len(r.sums) {
			r.VBROADCASTSS(emit.At(from, 4*i), v)
			r.weights = append(r.weights, v)
			continue
		}
		r.keep(emit.At(from, 4*i), spareWeights+32*i)
		r.weights = append(r.weights, emit.At(r.spare, spareWeights+32*i))
	}
}

// down computes a column of vectors.
func (r *rolling) down() {
	above := r.n - r.step // rows of the plane above those of a step
	for row := range above {
		r.row(0, row-above)
	}
	rows, loop, done := r.Whole(r.s.Field("rows")), r.Fresh("rows"), r.Fresh("done")
	r.Here(loop)
	for first, sum := range r.sums {
		for i := range r.step {
			r.row(first, i)
		}
		r.store(sum)
		r.DECQ(rows)
		r.JEQ(done)
	}
	r.JMP(loop)
	r.Here(done)
}

// row adds the products of row i of a step to the sums of results from the first one on.
func (r *rolling) row(first, i int) {
	for across := range r.n {
		at := emit.At(r.at, across/r.step*4)
		if across%r.step == 1 {
			at = at.Idx(r.other, 1)
		}
		r.VMOVUPS(at, r.x)
		for later := range r.sums {
			down, sum := r.n-r.step+i-r.step*later, r.sums[(first+later)%len(r.sums)]
			if down == 0 && across == 0 {
				r.VXORPS(sum, sum, sum)
			}
			if down >= 0 {
				r.VFMADD231PS(r.weights[down*r.n+across], r.x, sum)
			}
		}
	}
	r.ADDQ(r.pitch, r.at)
}

// store stores sums with the bias. If they are finished, it rounds them, adds a number, and limits them: the second
// operand of maxima and minima counts where both are zeros.
func (r *rolling) store(sum reg.VecVirtual) {
	plain, nan := r.Fresh("plain"), r.Vector()
	r.VADDPS(emit.At(r.spare, 0), sum, sum)
	r.CMPB(r.Place(r.s.Field("finish")), Imm(0))
	r.JEQ(plain)
	r.VCVTPS2PH(Imm(0), sum, sum.AsX())
	r.VCVTPH2PS(sum.AsX(), sum)
	r.VADDPS(emit.At(r.spare, 32), sum, sum)
	r.VCMPPS(Imm(3), sum, sum, nan)
	r.VORPS(nan, r.wrong, r.wrong)
	r.VMAXPS(emit.At(r.spare, 64), sum, sum)
	r.VMINPS(emit.At(r.spare, 96), sum, sum)
	r.Here(plain)
	r.VCVTPS2PH(Imm(0), sum, emit.At(r.dst, 0))
	r.ADDQ(r.Place(r.s.Field("to")), r.dst)
}
