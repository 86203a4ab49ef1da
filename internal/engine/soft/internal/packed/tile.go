package packed

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// Sizes of Tiles.
const (
	TileVectors = 64 // at most
	TileRows    = 16 // of a product
	TileStride  = 32 // sums from those of one vector to the next
	tileOnce    = 6  // vectors that the kernel takes
	tileMany    = 32 // vectors, beyond which the panel has bytes
	tileLeast   = 32 // columns of a group
)

// wordLeast and never are the exponents with which words looks for steep vectors: elements less than 2^-8 of the power
// of two in their group's greatest, and none.
const wordLeast, never = 8, 100

// Tiles are vectors as integers of 16 bits, and memory for the rows that multiply them.
type Tiles struct {
	w       *Weights
	room    []float32
	order   string // the columns of each eight words, as the panel has them
	single  bool   // one vector, and integers of 8 bits: wordRows multiplies it
	spread  bool   // the panel has bytes
	vectors [TileVectors]shape
}

// shape is how a vector is multiplied.
type shape uint8

const (
	flat     shape = iota // as integers: the number of records less one
	uneven                // as integers, and others for what these leave
	infinite              // as elements
)

// Tiled reports whether w has Tiles. AVX-512 and arm64 have kernels of matrices of floats that take no more time.
func (w *Weights) Tiled() bool {
	return machine == simd.AVX2 && w.Fits() && w.Bits == w.width() && (w.Bits == 4 || w.Bits == 8) &&
		w.Wide%tileLeast == 0 && w.Rows >= TileRows
}

// wordGroup is the columns of a vector whose words have one unit.
func (w *Weights) wordGroup() int { return min(w.Wide&-w.Wide, unit) }

// record is the float32s of a vector: its words, then the units of groups, and the sums of blocks.
func (w *Weights) record() int { return w.Cols/2 + 2*w.Cols/w.wordGroup() }

// TileRoom is the float32s of memory for n vectors.
func (w *Weights) TileRoom(n int) int {
	return 2*n*w.record() + w.panel() + 2*w.scales() + max(w.Cols, 5*padded(TileRows*w.blocks()))
}

// panel is the float32s of a panel of TileRows rows, and scales those of their scales.
func (w *Weights) panel() int  { return TileRows * w.Cols / 4 }
func (w *Weights) scales() int { return TileRows * (w.blocks() + 3) / 4 * 4 }

// Tiles returns Tiles of at most n vectors in room.
func (w *Weights) Tiles(room []float32, n int) Tiles {
	t := Tiles{w: w, room: room, order: "04152637", single: n == 1 && w.Bits == 8, spread: n > tileMany}
	switch bytes := w.Bits == 8; {
	case t.single, t.spread && bytes:
		t.order = "01234567"
	case t.spread:
		t.order = "02461357"
	case bytes:
		t.order = "02134657"
	}
	return t
}

// Set makes words of vector i, whose elements are halves. It may change x.
func (t *Tiles) Set(i int, x []float32) {
	finite, isSteep := t.words(2*i, x, wordLeast)
	t.vectors[i] = flat
	if isSteep {
		finite, _ = t.words(2*i, x, never)
	}
	switch {
	case !finite:
		t.vectors[i] = infinite
	case isSteep:
		t.vectors[i] = uneven
		_, units, _ := t.parts(2 * i)
		group := t.w.wordGroup()
		for k, f := range x {
			each := float64(units[k/group])
			x[k] = f - float32(math.RoundToEven(float64(f)/each)*each)
		}
		t.words(2*i+1, x, never)
	}
}

// parts are those of a record.
func (t *Tiles) parts(record int) (words, units, sums []float32) {
	r := t.room[record*t.w.record():][:t.w.record()]
	groups := t.w.Cols / t.w.wordGroup()
	return r[:t.w.Cols/2], r[t.w.Cols/2:][:groups], r[t.w.Cols/2+groups:]
}

// words makes a record of x, unless x is steep or not finite.
func (t *Tiles) words(record int, x []float32, least uint32) (finite, steep bool) {
	w := t.w
	to, units, sums := t.parts(record)
	f := wording{x: &x[:w.Cols][0], to: &to[0], units: &units[0], sums: &sums[0], groups: len(units),
		each: w.wordGroup() / 32, least: least}
	for i := range f.order {
		f.order[i] = 2*(t.order[i/2]-'0') + byte(i%2)
	}
	most, steep := words(&f)
	if steep || most >= 0xff<<23 {
		return false, steep
	}
	if each := w.Wide / w.wordGroup(); each > 1 {
		for b := range w.blocks() {
			sum := float32(0)
			for _, f := range sums[b*each:][:each] {
				sum += f
			}
			sums[b] = sum
		}
	}
	return true, false
}

// Products sets sums to the products of the first n vectors with TileRows rows from row on. It returns false if they are
// not those of integers; Product computes these. So it does those of a vector that Exact names.
func (t *Tiles) Products(sums []float32, n, row int) bool {
	w := t.w
	room := t.room[2*n*w.record():]
	integers, room := room[:w.panel()], room[w.panel():]
	scales, room := room[:2*w.scales()], room[2*w.scales():]
	bounded, prepared := w.allBounded(row, TileRows, room)
	if !bounded {
		return false
	}
	for i := range n {
		clear(sums[i*TileStride:][:TileRows])
	}
	if t.single {
		t.rows(sums, room, row)
		return true
	}
	t.panel(integers, scales, room, row, prepared)
	d := tiling{panel: &integers[0], line: 4 * 2 * w.record(), blocks: w.blocks(),
		each: w.Wide / w.wordGroup(), steps: w.wordGroup() / 8}
	size := w.line(w.Cols)
	d.data, d.ahead, d.fetched = &w.Data[row*size], TileRows*size, TileRows*w.line(8)
	for i, left := 0, (n+tileOnce-1)/tileOnce; left > 0; left-- { // evenly
		some := (n - i + left - 1) / left
		t.multiply(&d, scales, sums, 2*i, some)
		i += some
		d.ahead, d.fetched = 0, 0
	}
	for i, s := range t.vectors[:n] {
		if s == uneven {
			t.multiply(&d, scales, sums, 2*i+1, 1)
		}
	}
	return true
}

// line is the bytes of some integers.
func (w *Weights) line(n int) int { return n / 8 * w.Bits }

// rows is Products of one vector with rows of bytes. Unsigned ones are taken as they are.
func (t *Tiles) rows(sums, room []float32, row int) {
	w := t.w
	n, signed := w.blocks(), 0
	if w.Signed {
		signed = 1
	}
	w.prepare(room, row*n, TileRows*n, exact, false, 0)
	d := wordy{data: &w.Data[row*w.Cols:][:TileRows*w.Cols][0], line: 8 * w.Cols, scale: &room[0],
		product: &room[padded(TileRows*n)], stride: 8 * 4 * n, sums: &sums[:TileRows][0], blocks: n,
		each: w.Wide / w.wordGroup(), steps: w.wordGroup() / 32}
	for record := range 1 + int(t.vectors[0]) {
		words, units, means := t.parts(record)
		d.x, d.units, d.means = &words[0], &units[0], &means[0]
		wordRows(signed, &d)
	}
}

// panel sets integers to those of rows, without a sign, and scales to what each block has, which room may have.
func (t *Tiles) panel(integers, scales, room []float32, row int, prepared bool) {
	w := t.w
	size, n := w.line(w.Cols), w.blocks()
	p := paneling{data: &w.Data[row*size:][:TileRows*size][0], to: &integers[0], line: size, steps: size / 16}
	if w.Signed {
		if p.flip = 0x88888888; w.Bits == 8 {
			p.flip = 0x80808080
		}
	}
	spread := 0
	if t.spread {
		spread = 8 / w.Bits
	}
	panel(spread, &p)
	if !prepared {
		w.prepare(room, row*n, TileRows*n, exact, false, w.more())
	}
	for i := range 2 { // scales and products
		p = paneling{floats: &room[i*padded(TileRows*n)], to: &scales[i*w.scales()], line: 4 * n, steps: (n + 3) / 4}
		panel(0, &p)
	}
}

// multiply adds the products of every other record from one on.
func (t *Tiles) multiply(d *tiling, scales, sums []float32, record, n int) {
	words, units, means := t.parts(record)
	d.scale, d.product = &scales[0], &scales[t.w.scales()]
	d.x, d.units, d.means = &words[0], &units[0], &means[0]
	d.sums = &sums[record/2*TileStride:][:(n-1)*TileStride+TileRows][0]
	integers := t.w.Bits
	if t.spread {
		integers = 0
	}
	tile(integers, n, d)
}

// Exact reports whether Product has to compute the products of a vector.
func (t *Tiles) Exact(i int) bool { return t.vectors[i] == infinite }

// Product sets sums to the products of a vector with TileRows rows from row on, as sums of products of elements.
func (t *Tiles) Product(sums, x []float32, n, row int) {
	t.w.slow(sums[:TileRows], x, t.room[2*n*t.w.record():], row)
}
