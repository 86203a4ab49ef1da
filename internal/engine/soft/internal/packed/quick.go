package packed

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// machine is the kernels: simd.Neon has those that multiply floats, AVX2 and AVX512 have all. Only tests change it, to
// run other code than the best.
var machine = simd.Best()

// bits is the bits of the vectors that the kernels of integers and of elements use; 0 without them.
func bits() int {
	switch machine {
	case simd.AVX512:
		return 512
	case simd.AVX2:
		return 256
	}
	return 0
}

const (
	chunk = Lanes
	// magic and most are the arguments of split. The unit of high is 2^-11 for a scale of 1 to 2. So products of
	// integers of 9 bits with scales of 11 bits are multiples of it, and fit into 24 bits beside an offset of 10 bits.
	magic = 1.5 * (1 << 12)
	most  = 1<<10 - 1
)

// kind is the kind of integers that the kernels expand, as expand takes it; 0 for others.
func (w *Weights) kind() int {
	switch b := w.width(); {
	case b == 8 && w.Signed:
		return -8
	case b == 6 && !w.Signed, b == 2, b == 3, b == 4, b == 8:
		return b
	}
	return 0
}

// multiplied is the kind of those that a kernel multiplies too.
func (w *Weights) multiplied() int {
	if machine != simd.AVX512 || w.ruled() || w.High != 1 || w.Wide%chunk != 0 || w.width() == 4 {
		return 0
	}
	return w.kind()
}

// padded is the room of the scales of some blocks: a multiple of 16.
func padded(blocks int) int { return (blocks + 15) / 16 * 16 }

// prepare sets room to the rows of parts for some blocks from block from on, and returns them and what they are found to
// be. With rest it gives exact elements too the parts that other kernels read.
func (w *Weights) prepare(room []float32, from, blocks int, known exactness, rest bool, more float32) (
	d dots, found exactness) {
	n := padded(blocks)
	p := w.parts(room, n, more)
	if known != unknown {
		p.sure = 1
	}
	if found = known; known <= exact && !rest {
		found = w.split(p, room, from, blocks, known)
	}
	if found == inexact || rest {
		p.full = 1
		found = w.split(p, room, from, blocks, known)
	}
	d.scale, d.product, d.high, d.under, d.over = &room[0], &room[n], &room[2*n], &room[3*n], &room[4*n]
	return d, found
}

// parts are the arguments of split for at most n blocks.
func (w *Weights) parts(room []float32, n int, more float32) parts {
	_ = room[5*n-1]
	p := parts{stride: 4 * n, magic: magic, most: most, unit: float32(int(1) << (13 - w.Bits)),
		wide: float32(int(1) << w.Bits), top: float32(int(1)<<w.Bits - 1), more: more}
	if w.Signed {
		p.least, p.top, p.signed = -float32(int(1)<<(w.Bits-1)), float32(int(1)<<(w.Bits-1)-1), 1
	}
	return p
}

// split calls split for some blocks, and returns what is known already or what it finds out.
func (w *Weights) split(p parts, room []float32, from, blocks int, known exactness) exactness {
	var scale, half [lanes]fp16.Bits
	var single [lanes]float32
	var bytes [lanes]byte
	bad, rounded, size := false, false, bits()/32
	for n := 0; blocks > 0; blocks -= n {
		if n = blocks / size * size; n == 0 {
			n = blocks
		}
		p.count, p.to = (n+size-1)/size, &room[0]
		p.scale, p.half = place(w.Scale, from, n, &scale), place(w.OffsetHalf, from, n, &half)
		p.single, p.bytes = place(w.OffsetSingle, from, n, &single), place(w.OffsetByte, from, n, &bytes)
		b, r := split(bits(), &p)
		bad, rounded = bad || b, rounded || r
		room, from = room[n:], from+n
	}
	switch {
	case known != unknown:
		return known
	case bad:
		return wrong
	case rounded:
		return inexact
	}
	return exact
}

// place is where n elements of a slice are, or nil if it is. Few are copied to a vector's room.
func place[T any](s []T, from, n int, room *[lanes]T) *T {
	if s == nil {
		return nil
	}
	if s = s[from:][:n]; n >= lanes {
		return &s[0]
	}
	copy(room[:], s)
	return &room[0]
}

// numbers has the number of each index of four bits.
func (w *Weights) numbers() (table [16]float32) {
	for i := range table {
		n := i & (1<<w.Bits - 1)
		if w.Signed {
			n = n << (64 - w.Bits) >> (64 - w.Bits)
		}
		table[i] = float32(n)
	}
	return table
}

// quick is Dots by assembly, for at most batch rows. It reports whether it has done it.
func (w *Weights) quick(sums, x, room []float32, row int) bool {
	kind := w.multiplied()
	if kind == 0 {
		return false
	}
	blocks := w.blocks()
	found, known := w.remembered(row, len(sums)), unknown
	if found != nil {
		known = exactness(found.Load())
	}
	if known == wrong {
		return false
	}
	d, is := w.prepare(room, row*blocks, len(sums)*blocks, known, false, 0)
	if found != nil && known == unknown {
		found.Store(uint32(is))
	}
	if is == wrong {
		return false
	}
	d.sums, d.x, d.rows, d.blocks, d.each = &sums[0], &x[0], len(sums), blocks, w.Wide/chunk
	data := w.Data[row*w.Cols/8*w.width():][:len(sums)*w.Cols/8*w.width()]
	d.data = &data[0]
	numbers := w.numbers()
	d.numbers = &numbers
	if is == exact {
		d.high = d.product
	}
	multiply(kind, int(is), &d)
	return true
}

const (
	step      = 16 // integers that the kernels expand at a time
	fewBlocks = 32 // whose scales and offsets are prepared at a time
)

// floats is Floats by assembly. It reports whether it has done it; if not, dst may be changed.
func (w *Weights) floats(dst []float32, row, col int) bool {
	kind, width := w.kind(), w.width()
	if bits() == 0 || kind == 0 || (w.Wide|w.Cols|col|len(dst))%step != 0 {
		return false
	}
	var room [5 * fewBlocks]float32
	numbers := w.numbers()
	for len(dst) > 0 {
		n := min(len(dst), fewBlocks*w.Wide) / w.Wide * w.Wide
		if left := w.Wide - col%w.Wide; left < w.Wide || n == 0 {
			n = min(len(dst), left) // a part of a block
		}
		blocks, from := (n+w.Wide-1)/w.Wide, w.block(row, col)
		d, found := w.prepare(room[:], from, blocks, unknown, true, 0)
		if found == wrong {
			return false
		}
		d.numbers, d.sums, d.data = &numbers, &dst[0], &w.Data[(row*w.Cols+col)/8*width:][:n/8*width][0]
		d.rows, d.blocks, d.each = 1, blocks, n/blocks/step
		expand(bits(), kind, &d)
		dst, col = dst[n:], col+n
	}
	return true
}
