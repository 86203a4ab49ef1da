package halves

import (
	"math"
	"math/bits"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// half is a number of 16 bits, for the assembly.
type half = fp16.Bits

type eight [8]float32

// Constants of the exponentials. A total errs by less than ofTotal of itself, and is greater by rooted and e^power.
const (
	ofTotal = 1.1 * 0x1p-27
	rooted  = 0x1.1f7036p0
)

// Steps of some rows. The first copies them and finds the greatest elements, or leaves a row whose one is no number. The
// second computes exponentials and their totals. The last divides, and leaves a row with what is unsure.
const (
	softmaxTops = iota
	softmaxExponentials
	softmaxQuotients
)

// softmaxing is what the steps of some rows need and tell.
type softmaxing struct {
	dst, x           *fp16.Bits // of the first row
	copied           *fp16.Bits // a copy of x
	e, room          *float32   // its exponentials, and room for their powers
	n, stride, pitch int        // elements of a row, at least a block; bytes from one row to the next; elements there
	ahead            int        // bytes from x to what is fetched for the next rows
	at               int        // where the first row goes on, or 0 where it begins
	unsure           uint32     // two bits for each element at at that the margin does not decide
	low              [block]uint16
}

// softmaxRow is what is known of a row.
type softmaxRow struct {
	total      float64    // exponentials are divided by it
	top, power float32    // 2^power is about e^top
	shift      float32    // puts 4m + j, less 4*power, into the low bits
	ends       [2]float32 // of the margin of the total's inverse
}

// Rows go through the steps together: as many as the first-level cache has room for, of some elements, at most few.
const (
	together    = 3072
	fewTogether = 32
	powersRoom  = 512 // the elements whose powers are kept beside their exponentials
)

// softmaxRows returns how many of some rows go together, and the elements from one to the next in their room.
func softmaxRows(n, rows int) (some, pitch int) {
	pitch = (max(n, block)+block-1)/block*block + block
	return min(rows, fewTogether, max(together/pitch, 1)), pitch
}

// SoftmaxRoom is how many elements Softmax needs of room, and as many of copied.
func SoftmaxRoom(n, rows int) int {
	some, pitch := softmaxRows(n, rows)
	return powersRoom + some*pitch
}

// Softmax sets some rows of dst, n elements each, to the exponentials of the distances of the elements of x to the
// greatest one of their row, rounded to float32, divided by the total of these before they are rounded: the result
// rounds once. It returns how many rows it did: the next one has NaN or its greatest element is infinite, or this
// machine has no kernel. Rows are stride elements apart. dst may be x. room and copied have SoftmaxRoom.
func Softmax(dst, x []fp16.Bits, rows, n, stride int, room []float32, copied []fp16.Bits) (done int) {
	switch {
	case machine != simd.AVX2 || n > most:
		return 0
	case n < block:
		return shortSoftmax(dst, x, rows, n, stride, room, copied)
	}
	some, pitch := softmaxRows(n, rows)
	_, _, _, _ = dst[(rows-1)*stride+n-1], x[(rows-1)*stride+n-1], room[powersRoom+some*pitch-1], copied[some*pitch-1]
	s := softmaxing{copied: &copied[0], room: &room[0], n: n, stride: 2 * stride, pitch: pitch, ahead: 2 * some * stride}
	var known [fewTogether]softmaxRow
	for room = room[powersRoom:]; done < rows; {
		some = min(some, rows-done)
		s.x, s.e = &x[done*stride], &room[0]
		good := some - softmaxStep(softmaxTops, &s, &known[0], some)
		if good > 0 {
			softmaxStep(softmaxExponentials, &s, &known[0], good)
		}
		for i := 0; i < good; {
			at := (done + i) * stride
			s.dst, s.x, s.e, s.unsure = &dst[at], &x[at], &room[i*pitch], 0
			i = good - softmaxStep(softmaxQuotients, &s, &known[i], good-i)
			if s.unsure == 0 {
				break
			}
			last := n - block
			if s.settle(&known[i], dst[(done+i)*stride:][:n], copied[i*pitch:], room[i*pitch:]) && s.at < last {
				s.at = min(s.at+block, last)
				continue
			}
			i, s.at = i+1, 0
		}
		s.at = 0
		if done += good; good < some {
			break
		}
	}
	return done
}

// shortSoftmax is Softmax for rows of less than a block: they are copied into whole blocks.
func shortSoftmax(dst, x []fp16.Bits, rows, n, stride int, room []float32, copied []fp16.Bits) (done int) {
	var some [fewTogether * block]fp16.Bits
	for done < rows {
		now := min(fewTogether, rows-done)
		for i := range some[:now*block] {
			some[i] = sign | infinity
		}
		for i := range now {
			copy(some[i*block:][:n], x[(done+i)*stride:])
		}
		did := Softmax(some[:], some[:], now, block, block, room, copied)
		for i := range did {
			copy(dst[(done+i)*stride:][:n], some[i*block:])
		}
		if done += did; did < now {
			break
		}
	}
	return done
}

// few is how many elements of a block are settled one by one.
const few = 4

// exactly is the total of the exponentials of distances.
func (r *softmaxRow) exactly() float64 {
	return r.total / rooted * math.Exp(float64(r.power)*math.Ln2-float64(r.top))
}

// settle computes the elements that are unsure, and reports whether the row goes on: with more of them than few, or if
// the error of the total matters, it computes the whole row in float64. e has room for that.
func (s *softmaxing) settle(known *softmaxRow, row, copied []fp16.Bits, e []float32) (more bool) {
	top, by := float64(known.top), known.exactly()
	for i, b := range s.low {
		row[s.at+i] = half(b)
	}
	sure := bits.OnesCount32(s.unsure) <= 2*few
	for unsure := s.unsure; sure && unsure != 0; unsure &= unsure - 1 {
		i := s.at + bits.TrailingZeros32(unsure)/2
		unsure &= unsure - 1
		q := float64(float32(exp(float64(copied[i].Float32())-top))) / by
		least, most := fp16.FromFloat64(q*(1-ofTotal)), fp16.FromFloat64(q*(1+ofTotal))
		row[i], sure = least, least == most
	}
	if !sure {
		var sums Sums
		sums.Exp(e, copied[:len(row)], top)
		Divide(row, e, sums.Total())
	}
	return sure
}
