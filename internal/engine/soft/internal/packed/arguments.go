package packed

import "github.com/anekit/anekit/ane/fp16"

// fixing are the arguments of fixGroups: groups of a vector, and of each the pieces of 32 columns. Every four pieces
// become stored float32s, and each group its sum.
type fixing struct {
	x        *float32
	to, sums *float32
	groups   int
	each     int
}

// fixes are the arguments of the kernels of integers. The products of scale and offset are those of integers without a
// sign. The scales become those of the vector's integers, except for blocks of units.
type fixes struct {
	sums   *float32
	data   *byte
	digits *float32
	scale, // of each block
	product, // of scale and offset
	vector *float32 // for each sixteen blocks, the sums of the vector and the units of its integers
	rows, units  int
	last         int    // a bit for each lane that the last unit has
	each         int    // units of a block
	blocks       int    // of a row
	line, stride int    // bytes of a row of data, and of one of scales
	flip         uint32 // the bits that make integers unsigned

	// With 256 bits and blocks of a multiple of 8, the scales and offsets as stored, in place of product: then scale is
	// room alone, and more is added to offsets. Else nil.
	halves, offsets *fp16.Bits
	more            float32
}

// dots are the arguments of the kernels: rows of blocks of chunks of 64 integers. Each block has a scale, and of the
// product of its scale and offset the high part and the rest, rounded down and up; see split. numbers has what the low
// four bits of a shifted integer stand for. The kernels that expand store the elements of blocks of 16 integers one
// after the other in sums; there is one row, and each is the sixteens of a block.
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

// parts are the arguments of split: count vectors of scales, and as many offsets of one of three kinds or of none.
// split writes five rows, stride bytes apart: the scales, their products with the offsets plus more times the scales,
// and three of the products in parts. The parts are high, in the unit that magic sets, and the rest, rounded down and
// up.
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
	more       float32
	full       int32 // 0 leaves out high and the rest
	sure       int32 // 0 checks the numbers; 2 only that no element is beyond a half, else it is wrong; 1 nothing
}

// wording are the arguments of words: groups of a vector, and of each the pieces of 32 columns. Each group becomes
// integers of 16 bits, its unit, and the sum of its integers in it.
type wording struct {
	x               *float32
	to, units, sums *float32
	groups, each    int
	least           uint32   // a vector is steep where many elements are 2 to the minus this of the greatest
	order           [16]byte // of the bytes of each eight integers
}

// paneling are the arguments of panel: a step is 16 bytes of each row, of data or else of floats.
type paneling struct {
	data   *byte
	floats *float32
	to     *float32
	line   int // bytes of a row
	steps  int
	flip   uint32 // the bits that make integers unsigned
}

// tiling are the arguments of tile: blocks of some groups, each of steps of eight columns. For each block scale has 16
// scales, and product their products with offsets. For each vector x has words, units that of each group, and means the
// sum of each block. A step fetches two lines of memory: the first one ahead bytes after data, those of the next one
// fetched bytes later.
type tiling struct {
	panel               *float32
	scale, product      *float32
	x, units, means     *float32
	sums                *float32
	line                int // bytes between vectors
	blocks, each, steps int
	data                *byte
	ahead, fetched      int
}

// wordy are the arguments of wordRows: rows of blocks of some groups, each of steps of 32 columns. scale and product
// have a row for each; x, units and means are as of tiling.
type wordy struct {
	data                *byte
	line                int // bytes of eight rows of data
	scale, product      *float32
	stride              int // bytes of eight rows of scales
	x, units, means     *float32
	sums                *float32
	blocks, each, steps int
}
