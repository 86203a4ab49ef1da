package halves

import (
	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane/fp16"
)

const (
	avx2   = "avx2"
	avx512 = "avx512" // also for the sums in float64, which are in Go otherwise
)

// detect requires F16C, AVX2 and FMA. x/sys/cpu reports them only if the operating system saves the registers.
func detect() string {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ {
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

// tileVector transposes 32 x 32 halves by way of room. to and from are the bytes between rows.
//
//go:noescape
func tileVector(dst, src, room *uint16, to, from int)

//go:noescape
func expVector(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)

//go:noescape
func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)

//go:noescape
func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)

//go:noescape
func normalizeVector(dst, x, gamma, beta *fp16.Bits, blocks int, s *Scaled)

// mulRowsVector takes at most 8 rows; stride is the bytes between them.
//
//go:noescape
func mulRowsVector(sums, vector *float32, x *fp16.Bits, blocks, rows, stride int)

// dotsVector takes blocks of 8 columns.
//
//go:noescape
func dotsVector(sums *[dotRows]float32, vector *float32, x *fp16.Bits, blocks, stride int)

// mulFourVector takes blocks of fewCols columns and at most 8 rows; the strides are the bytes between the rows, the
// sums and the vectors.
//
//go:noescape
func mulFourVector(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)

// spansVector takes at most 8 rows; stride is the bytes between them. least is 0 for the greatest halves.
//
//go:noescape
func spansVector(least int, keys, nans *int16, x *fp16.Bits, blocks, rows, stride int)
