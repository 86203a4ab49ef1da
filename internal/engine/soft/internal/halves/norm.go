package halves

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// Moments are the sums of distances from a number, and of their squares.
type Moments struct{ Values, Squares Sums }

// Add adds a piece of a sequence, as Sums.Add does.
func (m *Moments) Add(x []fp16.Bits, from float64) {
	for len(x) >= block && machine != simd.Portable {
		n := whole(len(x))
		momentsVector(m, &x[0], n/block, from)
		x = x[n:]
	}
	for i, b := range x {
		d := float64(b.Float32()) - from
		m.Values[i%block] += d
		m.Squares[i%block] = math.FMA(d, d, m.Squares[i%block])
	}
}

// Scaled is the change of a sequence by Normalize.
type Scaled struct {
	mean, scale               float64
	meanShort, left           float32 // mean; what is left of it, times scale
	scaleShort, spread, least float32 // scale; what the mean's error makes of a result; the least exact enough
	bound                     uint32  // twice the bits of least, or of the least normal half, or more than any
}

// NewScaled returns the change to (x - mean) * scale.
func NewScaled(mean, scale float64) Scaled {
	s := Scaled{mean: mean, scale: scale, meanShort: float32(mean), scaleShort: float32(scale)}
	s.left = float32((mean - float64(s.meanShort)) * scale)
	spread := float32(math.Abs(mean) * scale * 0x1p-45) // the error of a distance in float32, times scale
	if !(scale > 0x1p-40 && scale < 0x1p40) {
		spread = float32(math.NaN()) // nothing is computed in float32
	}
	s.spread = spread * 0x1p16 // times more than the greatest gamma
	s.least, s.bound = spread*0x1p24, math.MaxUint32
	if s.least < math.MaxFloat32 {
		s.bound = 2 * math.Float32bits(max(s.least, 0x1p-14))
	}
	return s
}

// Normalize sets dst[i] to (x[i] - mean) * scale * gamma[i] + beta[i], rounded once, without beta, or without both, if
// that is nil. dst may be x.
func (s *Scaled) Normalize(dst, x, gamma, beta []fp16.Bits) {
	x = x[:len(dst)]
	if gamma != nil {
		gamma = gamma[:len(dst)]
	}
	if beta != nil {
		beta = beta[:len(dst)]
	}
	ahead := 2 * len(dst)
	if ahead > fetchMost {
		ahead = 0
	}
	for some := block; len(dst) >= block && machine != simd.Portable; {
		n := whole(len(dst))
		if done := s.quick(dst[:n], x, gamma, beta); done > 0 {
			n, some = done, block
		} else {
			if machine == simd.AVX2 {
				n, some = min(n, some), min(2*some, stretch)
			}
			s.normalize(&dst[0], &x[0], first(gamma), first(beta), n/block, ahead)
		}
		if dst, x = dst[n:], x[n:]; gamma != nil {
			gamma = gamma[n:]
		}
		if beta != nil {
			beta = beta[n:]
		}
	}
	for i, b := range x {
		d, by, shift := (float64(b.Float32())-s.mean)*s.scale, 1.0, 0.0
		if gamma != nil {
			by = float64(gamma[i].Float32())
		}
		if beta != nil {
			shift = float64(beta[i].Float32())
		}
		dst[i] = fp16.FromFloat64(math.FMA(d, by, shift))
	}
}

// fetchMost is the bytes of a sequence after which the next as long is fetched: both and gamma and beta fit the first
// cache.
const fetchMost = 1 << 14

// first is where a list begins, or nil.
func first(list []fp16.Bits) *fp16.Bits {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// ones and zeros are gamma and beta where there are none.
var ones, zeros = [block]fp16.Bits{0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00,
	0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00}, [block]fp16.Bits{}

// quick is Normalize for the blocks before one that float32 cannot decide. It returns how many elements these have.
func (s *Scaled) quick(dst, x, gamma, beta []fp16.Bits) int {
	if machine != simd.AVX2 || !(s.spread < math.MaxFloat32) {
		return 0
	}
	by, shift, byGamma, byBeta := neutral(first(gamma), first(beta))
	return block * quickNormalize(&dst[0], &x[0], by, shift, 4*byGamma, 4*byBeta, len(dst)/block, s)
}

// neutral returns gamma and beta, or 1 and 0 where there are none, and the bytes from one to the next of 4 elements.
func neutral(gamma, beta *fp16.Bits) (by, shift *fp16.Bits, byGamma, byBeta int) {
	const four = 8
	byGamma, byBeta = four, four
	if gamma == nil {
		gamma, byGamma = &ones[0], 0
	}
	if beta == nil {
		beta, byBeta = &zeros[0], 0
	}
	return gamma, beta, byGamma, byBeta
}

// normalize is Normalize for blocks, by the kernel for what there is.
func (s *Scaled) normalize(dst, x, gamma, beta *fp16.Bits, blocks, ahead int) {
	switch {
	case machine != avx512, beta != nil && !(s.spread < math.MaxFloat32):
		by, shift, byGamma, byBeta := neutral(gamma, beta)
		normalizeVector(dst, x, by, shift, byGamma, byBeta, blocks, s)
	case beta != nil:
		normalize512(dst, x, gamma, beta, blocks, ahead, s)
	default:
		stretch512(dst, x, gamma, blocks, s)
	}
}
