package halves

import (
	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane/fp16"
)

const (
	avx2   = "avx2"
	avx512 = "avx512"
)

// A kernel whose name ends in 256 has AVX2, one in 512 has AVX-512. One in Vector has AVX2 and serves both.

// detect requires F16C, AVX2 and FMA. x/sys/cpu reports them only if the operating system saves the registers.
func detect() string {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW {
		return avx512
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C {
		return avx2
	}
	return portable
}

// The assembly takes blocks of 16 halves, at least one.

// xstep and ystep are 1, or 0 for a block that is repeated.
//
//go:noescape
func binaryVector(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)

//go:noescape
func clampVector(dst, x *fp16.Bits, blocks int, low, high int16, keep fp16.Bits)

//go:noescape
func absVector(dst, x *fp16.Bits, blocks int)

//go:noescape
func sumVector(way int, sums *float64, x *fp16.Bits, blocks int)

// stride is the bytes between rows.
//
//go:noescape
func addToVector(way int, sums *float64, x *fp16.Bits, blocks, rows, stride int)

//go:noescape
func spanVector(s *Span, x *fp16.Bits, blocks int)

// tile256 transposes 32 x 32 halves by way of room, and fetches 2 KiB. to and from are the bytes between rows.
// Unless past is 0, lines of dst go past the caches where they are whole.
//
//go:noescape
func tile256(dst, src, room, fetch *uint16, to, from, past int)

//go:noescape
func tile512(dst, src, room, fetch *uint16, to, from, past int)

// fence ends what went past the caches before the writes that follow.
//
//go:noescape
func fence()

func tileHalves(dst, src, room, fetch *uint16, to, from, past int) {
	if machine.kernel == avx512 {
		tile512(dst, src, room, fetch, to, from, past)
	} else {
		tile256(dst, src, room, fetch, to, from, past)
	}
}

//go:noescape
func exp512(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)

//go:noescape
func divide512(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)

//go:noescape
func moments512(m *Moments, x *fp16.Bits, blocks int, from float64)

// normalize512 fetches what is ahead bytes after x.
//
//go:noescape
func normalize512(dst, x, gamma, beta *fp16.Bits, blocks, ahead int, s *Scaled)

//go:noescape
func stretch512(dst, x, gamma *fp16.Bits, blocks int, s *Scaled)

// mulRowsVector takes at most 8 rows; stride is the bytes between them.
//
//go:noescape
func mulRowsVector(sums, vector *float32, x *fp16.Bits, blocks, rows, stride int)

// dots256 takes blocks of 32 columns. fetch is what is read after them, or nil.
//
//go:noescape
func dots256(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride int)

//go:noescape
func dots512(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride int)

func dots(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride int) {
	if machine.kernel == avx512 {
		dots512(sums, vector, x, room, fetch, blocks, stride)
	} else {
		dots256(sums, vector, x, room, fetch, blocks, stride)
	}
}

// mulFour512 takes blocks of fewCols columns and at most 8 rows; the strides are the bytes between the rows, the
// sums and the vectors.
//
//go:noescape
func mulFour512(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)

//go:noescape
func mulFour256(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)

func mulFour(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int) {
	if machine.kernel == avx512 {
		mulFour512(sums, vectors, x, blocks, rows, stride, bySums, byVectors)
	} else {
		mulFour256(sums, vectors, x, blocks, rows, stride, bySums, byVectors)
	}
}

// spansVector takes at most 8 rows; stride is the bytes between them. least is 0 for the greatest halves.
//
//go:noescape
func spansVector(least int, keys, nans *int16, x *fp16.Bits, blocks, rows, stride int)

// copyRows takes rows of 32 bytes or more.
//
//go:noescape
func copyRows(dst, src *byte, rows, size, to, from int)

// The AVX2 forms.

//go:noescape
func exp256(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)

//go:noescape
func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64)

//go:noescape
func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)

// normalizeVector moves on by byGamma and byBeta bytes after each 4 elements, or by 0 where 4 are repeated.
//
//go:noescape
func normalizeVector(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled)
