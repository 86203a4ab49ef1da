package packed

import "golang.org/x/sys/cpu"

// detect checks for the instructions themselves: x/sys/cpu reports AVX-512 only if the operating system saves the
// registers.
func detect() string {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW {
		return avx512
	}
	return portable
}

const avx512 = "avx512"

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
}

//go:noescape
func dotsExact4(d *dots)

//go:noescape
func dotsOdd4(d *dots)

//go:noescape
func dotsExact2(d *dots)

//go:noescape
func dotsOdd2(d *dots)

//go:noescape
func dotsExact8(d *dots, signed bool)

//go:noescape
func dotsOdd8(d *dots, signed bool)

// The kernels that expand store the elements of blocks of 16 integers one after the other in sums. There is one row, and
// each is the sixteens of a block.

//go:noescape
func expand4(d *dots)

//go:noescape
func expand2(d *dots)

//go:noescape
func expand8(d *dots, signed bool)

// dotFloats adds the products of a and b to 64 sums.
//
//go:noescape
func dotFloats(lanes *[Lanes]float32, a, b *float32, chunks int)

// split sets high, under and over for 16 times blocks scales and offsets, so that for every integer in range
// integer * scale - high is exact in float32, and high plus a number from under to over is scale * offset. magic is 1.5
// * 2^23 times the unit of high for a scale of 1. wrong tells that an offset is above most, or that the numbers are too
// small or too large.
//
//go:noescape
func split(high, under, over, scale, offset *float32, blocks int, magic, most float32) (wrong bool)
