package halves

import (
	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane/fp16"
)

// detect requires F16C, AVX2 and FMA. x/sys/cpu reports them only if the operating system saves the registers.
func detect() string {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C {
		return "avx2"
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

//go:noescape
func addToVector(way int, sums *float64, x *fp16.Bits, blocks int)

//go:noescape
func spanVector(s *Span, x *fp16.Bits, blocks int)

// tileVector transposes 32 x 32 halves by way of room. to and from are the bytes between rows.
//
//go:noescape
func tileVector(dst, src, room *uint16, to, from int)
