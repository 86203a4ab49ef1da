package packed

import (
	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane/fp16"
)

// detect checks for the instructions themselves: x/sys/cpu reports AVX-512 only if the operating system saves the
// registers.
func detect() string {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW {
		return avx512
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C && cpu.X86.HasPOPCNT {
		return avx2
	}
	return portable
}

const avx512, avx2 = "avx512", "avx2"

// dots are the arguments of the kernels: rows of blocks of chunks of 64 integers. Each block has a scale, and of the
// product of its scale and offset the high part and the rest, rounded down and up; see split. numbers has what the low
// four bits of a shifted integer stand for.
type dots struct {
	sums               *float32
	data               *byte
	x                  *float32
	scale              *float32
	high, under, over  *float32
	numbers            *[16]float32
	rows, blocks, each int
	product            *float32 // in place of high where all is exact; the kernels do not read it
}

//go:noescape
func dotsExact2(d *dots)

//go:noescape
func dotsOdd2(d *dots)

//go:noescape
func dotsExact3(d *dots)

//go:noescape
func dotsOdd3(d *dots)

// dotsExact6 and dotsOdd6 take unsigned integers.
//
//go:noescape
func dotsExact6(d *dots)

//go:noescape
func dotsOdd6(d *dots)

//go:noescape
func dotsExact8(d *dots, signed bool)

//go:noescape
func dotsOdd8(d *dots, signed bool)

// The kernels that expand store the elements of blocks of 16 integers one after the other in sums. There is one row,
// and each is the sixteens of a block.

//go:noescape
func expand4(d *dots)

//go:noescape
func expand2(d *dots)

//go:noescape
func expand8(d *dots, signed bool)

// parts are the arguments of split: count scales, and as many offsets of one of three kinds or of none. The results are
// five rows, stride bytes apart, of the scales, their products with the offsets, and three of the same in parts: high,
// which has the unit that magic tells, and the rest, rounded down and up.
type parts struct {
	scale      *fp16.Bits
	half       *fp16.Bits
	single     *float32
	bytes      *byte
	signed     int
	count      int
	to         *float32
	stride     int
	magic      float32 // 1.5 * 2^23 times the unit of high for a scale of 1
	most       float32 // the largest offset
	unit       float32 // the inverse of the unit of offsets for which no product or difference is rounded
	least, top float32 // the range of the integers
	wide       float32 // the most that an integer may differ from such an offset
	full       int32   // 0 leaves out high and the rest
	sure       int32   // 0 checks the numbers; else nothing is wrong or inexact
}

// split makes for every integer in range integer * scale - high exact in float32, and high plus a number from under to
// over is scale * offset. wrong tells that numbers are too small or too large, inexact that scale * (integer - offset)
// may not be exact in float32. Beyond count it writes up to a multiple of 16.
//
//go:noescape
func split(p *parts) (wrong, inexact bool)
