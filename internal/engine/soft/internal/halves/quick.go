package halves

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// quickConstants are what quickExp needs, in the order in which the assembly reads them. e^x is 2^m * 2^(j/8) * e^r
// with 8m + j = x * 8/ln 2, rounded. The roots 2^(j/8) have two parts, both without j << 20: adding 8m + j, shifted
// by 20, to their bits multiplies them by 2^m.
type quickConstants struct {
	high, low           [8]uint32
	steps               eight // 8/ln 2
	away, rest          eight // ln 2/8 in two parts, the first in 2^-24
	fourth, third, half eight // of the series, the third for what follows the fourth too
	start               eight // of the sums: more than an exponential
	ends                [2]float64
}

type eight [8]float32

func all(f float32) eight { return eight{f, f, f, f, f, f, f, f} }

var quick = quickConstants{
	high:  [8]uint32{0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7},
	low:   [8]uint32{0x2d800000, 0xb250aba1, 0x33031b71, 0xb2fc9d5e, 0x328fe77a, 0x31baa837, 0xb274a58a, 0xb1d116de},
	steps: all(8 / math.Ln2), away: all(0x1.62e430p-4), rest: all(-0x1.05c610p-32),
	fourth: all(1.0 / 24), third: all(0x1.555b82p-3), half: all(0.5), start: all(2),
	ends: [2]float64{1 - ofShare, 1 + ofShare},
}

// Errors of a softmax in float32: of a quotient, and of the total. An exponential errs by at most 2^-23 of itself, the
// inverse of the total and their product by 2^-24.
const (
	ofShare = 1.1 * 0x1p-22
	ofTotal = 0x1p-27
)

// shares are a sequence's numbers that its softmax needs.
type shares struct {
	shift, least float32    // adding shift to 8m + j puts it into the low bits, less 8*power; least is for what is less
	ends         [2]float32 // of the margin of the total's inverse
	top          float64    // the greatest element
	power        float64    // e^top is about 2^power, by which exponentials are divided
	total        float64    // of the exponentials
}

// Softmax sets dst[i] to the exponential of the distance of x[i] to the greatest element, rounded to float32, divided
// by the total of these before they are rounded: the result rounds once. It returns false, and leaves x, unless float32
// decides each result. room has as many elements as x, spare twice as many, each up to a multiple of 16. dst may be x.
func Softmax(dst, x []fp16.Bits, room []float32, spare []fp16.Bits) bool {
	if machine != simd.AVX2 || len(x) > most {
		return false
	}
	out, n := dst, (len(x)+block-1)/block*block
	if n > len(x) || &dst[0] == &x[0] {
		copy(spare[:n], x)
		for i := len(x); i < n; i++ {
			spare[i] = sign | infinity
		}
		x, out = spare[:n], spare[n:2*n]
	}
	low, high := spanVector(&x[0], n/block)
	if low < int(key(sign|infinity)) || max(high, ^high) >= infinity {
		return false
	}
	s := newShares(fp16.Bits(key(fp16.Bits(high))).Float32())
	quickExp(&room[0], &x[0], n/block, &s, &quick)
	if !s.divide(out, room, x) {
		return false
	}
	if &out[0] != &dst[0] {
		copy(dst, out)
	}
	return true
}

func newShares(top float32) shares {
	power := math.RoundToEven(float64(top) / math.Ln2)
	return shares{shift: float32(0x1.8p23 - 8*power), least: top - 60, top: float64(top), power: power}
}

// divide computes whole blocks of the result from the exponentials e.
func (s *shares) divide(dst []fp16.Bits, e []float32, x []fp16.Bits) bool {
	return scaled(dst, e, &s.ends, func(at, n int) bool { return s.exactly(dst[at:at+n], e[at:at+n], x[at:at+n]) })
}

// scaled sets whole blocks of dst to the elements of x times both ends, where these round to one half. For the n
// elements from at on, which include others, it calls exactly, and returns false if that does.
func scaled(dst []fp16.Bits, x []float32, ends *[2]float32, exactly func(at, n int) bool) bool {
	for at, some := 0, block; at < len(dst); {
		n := quickScale(&dst[at], &x[at], (len(dst)-at)/block, ends) * block
		if n > 0 {
			some = block
		}
		if at += n; at < len(dst) {
			n, some = min(some, len(dst)-at), min(2*some, stretch)
			if !exactly(at, n) {
				return false
			}
			at += n
		}
	}
	return true
}

// stretch is how many elements are computed exactly at once, at most.
const stretch = 64

// exactly is divide in float64. It replaces what e has.
func (s *shares) exactly(dst []fp16.Bits, e []float32, x []fp16.Bits) bool {
	var sums Sums
	var low [stretch]fp16.Bits
	total := s.total * math.Exp(s.power*math.Ln2-s.top)
	sums.Exp(e, x, s.top)
	Divide(low[:len(dst)], e, total*(1+ofTotal))
	Divide(dst, e, total*(1-ofTotal))
	return slices.Equal(low[:len(dst)], dst)
}
