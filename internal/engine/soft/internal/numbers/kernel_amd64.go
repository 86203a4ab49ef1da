package numbers

import (
	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane/fp16"
)

// detect requires F16C, AVX2 and FMA. x/sys/cpu reports them only if the operating system saves the registers.
func detect() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C }

// The assembly takes blocks of 16 halves, at least one.

// xstep and ystep are 1, or 0 for a block that is repeated.
//
//go:noescape
func binaryAway(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)

//go:noescape
func binaryEven(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)

//go:noescape
func decodeVector(dst *float32, src *fp16.Bits, blocks int)

//go:noescape
func encodeAway(dst *fp16.Bits, src *float32, blocks int)

//go:noescape
func encodeEven(dst *fp16.Bits, src *float32, blocks int)
