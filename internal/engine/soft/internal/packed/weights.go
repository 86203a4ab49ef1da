package packed

import (
	"math"
	"sync/atomic"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/numerics"
)

// Weights are a matrix of integers, row after row without gaps from the low bits up, in blocks of High x Wide elements.
// Each block has a scale, and an offset of one of the three kinds or of none.
type Weights struct {
	Data   []byte
	Bits   int  // of an integer, 1 to 8
	Width  int  // bits from one integer to the next; 0 for Bits
	Signed bool // two's complement
	Rows, Cols,
	High, Wide int

	Scale        []fp16.Bits // row after row of blocks
	OffsetHalf   []fp16.Bits
	OffsetSingle []float32
	OffsetByte   []byte // integers, of the sign of the data

	// Written are the rules of a chip by which elements are rounded to halves, Read those by which Floats reads the
	// halves. 0 for package fp16.
	Written, Read numerics.Rules

	found []atomic.Uint32 // an exactness for every batch of rows; nil until Remember
}

// ruled reports whether elements are those of a chip.
func (w *Weights) ruled() bool { return w.Written|w.Read != 0 }

// width is the bits from one integer to the next.
func (w *Weights) width() int {
	if w.Width > 0 {
		return w.Width
	}
	return w.Bits
}

func (w *Weights) integer(i int) int {
	return int(element.Bits(w.Data, i, w.width())) & (1<<w.Bits - 1)
}

// number is what the bits of an integer stand for.
func (w *Weights) number(bits int) float64 {
	if w.Signed && bits>>(w.Bits-1) != 0 {
		bits -= 1 << w.Bits
	}
	return float64(bits)
}

func (w *Weights) block(row, col int) int { return row/w.High*(w.Cols/w.Wide) + col/w.Wide }

func (w *Weights) rescale(block int) (scale, offset float64) {
	scale = float64(w.Scale[block].Float32())
	switch {
	case w.OffsetHalf != nil:
		offset = float64(w.OffsetHalf[block].Float32())
	case w.OffsetSingle != nil:
		offset = float64(w.OffsetSingle[block])
	case w.OffsetByte == nil:
	case w.Signed:
		offset = float64(int8(w.OffsetByte[block]))
	default:
		offset = float64(w.OffsetByte[block])
	}
	return scale, offset
}

// stretch is how many elements Halves and Floats take at a time.
const stretch = 256

// Halves sets dst to the elements of a row from column col on, as halves.
func (w *Weights) Halves(dst []fp16.Bits, row, col int) {
	var floats [stretch]float32
	for len(dst) > 0 {
		n := min(len(dst), stretch)
		w.odd(floats[:n], row, col)
		w.Written.Encode(dst[:n], floats[:n])
		dst, col = dst[n:], col+n
	}
}

// Floats sets dst to the elements of a row from column col on, rounded to halves. A kernel may give a 0 the other sign,
// which no sum of products shows.
func (w *Weights) Floats(dst []float32, row, col int) {
	if !w.ruled() && w.floats(dst, row, col) {
		return
	}
	var room [stretch]fp16.Bits
	for len(dst) > 0 {
		n := min(len(dst), stretch)
		w.Halves(room[:n], row, col)
		halves.Decode(dst[:n], room[:n], w.Read)
		dst, col = dst[n:], col+n
	}
}

// odd sets dst to elements of a row, rounded to odd.
func (w *Weights) odd(dst []float32, row, col int) {
	var table [16]float32
	for len(dst) > 0 {
		n := min(len(dst), w.Wide-col%w.Wide)
		scale, offset := w.rescale(w.block(row, col))
		at := row*w.Cols + col
		if count := 1 << w.Bits; count <= len(table) && count <= n {
			for q := range count {
				table[q] = w.element(scale, w.number(q), offset)
			}
			w.look(dst[:n], at, &table)
		} else if w.Bits == 8 && w.width() == 8 {
			for i, b := range w.Data[at:][:n] {
				dst[i] = w.element(scale, w.number(int(b)), offset)
			}
		} else {
			for i := range dst[:n] {
				dst[i] = w.element(scale, w.number(w.integer(at+i)), offset)
			}
		}
		dst, col = dst[n:], col+n
	}
}

// look sets dst to what the table has for integers of at most four bits from position at on.
func (w *Weights) look(dst []float32, at int, table *[16]float32) {
	if w.width() == 4 && at%2 == 0 {
		for _, b := range w.Data[at/2:][:len(dst)/2] {
			dst[0], dst[1] = table[b&(1<<w.Bits-1)], table[b>>4&(1<<w.Bits-1)]
			dst, at = dst[2:], at+2
		}
	}
	for i := range dst {
		dst[i] = table[w.integer(at+i)&15]
	}
}

// element is scale * (number - offset), rounded to odd.
func (w *Weights) element(scale, number, offset float64) float32 {
	d := number - offset
	p := scale * d
	if w.OffsetSingle == nil { // p is exact
		return halves.ToOdd(p)
	}
	// d lacks digits of an offset below the number; one above it loses none, or the element is infinite.
	lost := number - d - offset
	lost = math.FMA(scale, d, -p) + scale*lost
	return halves.ToOdd(odd(p, lost))
}

// odd returns f, or a neighbour that is odd if f is even and rounding it has lost something. Rounding that again to
// fewer bits rounds once.
func odd(f, lost float64) float64 {
	bits := math.Float64bits(f)
	switch {
	case lost == 0 || lost != lost || bits&1 != 0:
		return f
	case (lost > 0) == (f > 0):
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}
