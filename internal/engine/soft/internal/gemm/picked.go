package gemm

import "slices"

// Picks are the places of a matrix's elements in a slice: element (i, j) is at at[i]+by[j].
type Picks struct {
	at, by []int32
	tiles  []int // the first row of each tile of Sixes
	size   int   // of the slice
}

// six is the rows of a tile.
const six = 6

// NewPicks returns nil for places that a slice of 2^31-1 elements does not have.
func NewPicks(at, by []int32) *Picks {
	p := &Picks{at: at, by: by, size: int(slices.Max(at)) + int(slices.Max(by)) + 1}
	if min(slices.Min(at), slices.Min(by)) < 0 || p.size>>31 != 0 {
		return nil
	}
	return p
}

// Sixes returns places in the order in which the products of some rows and depth columns read them: a tile has six
// elements of each column, those of its rows first.
func Sixes(rows, depth int) *Picks {
	var at, by []int32
	var first []int
	evenly(rows, six, func(i, high, tiles int) {
		for range tiles {
			for k := range high {
				at = append(at, int32(len(first)*depth*six+k))
			}
			first = append(first, i)
			i += high
		}
	})
	for j := range depth {
		by = append(by, int32(j*six))
	}
	p := NewPicks(at, by)
	if p != nil {
		p.tiles, p.size = first, len(first)*depth*six
	}
	return p
}

// PackSixes copies the rows of r, which are columns of the picked matrix, to their places. Two elements after the last
// place are overwritten.
func PackSixes[T float32 | half](dst []float32, p *Picks, r Rows[T]) {
	if r.Count < 1 || r.Count > len(p.by) || r.N > len(p.at) || r.Stride < r.N || len(dst) < p.size+2 ||
		len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of rows for tiles")
	}
	for t, first := range p.tiles {
		if first >= r.N {
			break
		}
		to, safe := dst[t*len(p.by)*six:], 0 // rows after which there are elements enough to read eight
		if x, ok := any(r.Elements[first:]).([]half); ok && len(x) >= 8 {
			safe = min(r.Count, (len(x)-8)/r.Stride+1)
			pickSixes(&to[0], &x[0], safe, r.Stride)
		}
		for i := safe; i < r.Count; i++ {
			some := r.Elements[i*r.Stride+first : i*r.Stride+r.N]
			some = some[:min(six, len(some))]
			switch some := any(some).(type) {
			case []float32:
				copy(to[i*six:], some)
			case []half:
				for j, h := range some {
					to[i*six+j] = h.Float32()
				}
			}
		}
	}
}

// MulPicked sets columns of C, whose m rows are width elements apart, to the first rows of picked elements of x times a
// strip, whose rows are columns from to from+depth of the picked ones. With add the sums begin with those in C. C has
// room for 8 columns, or for 16 if there are more. The first of two NaNs is that of the strip.
func MulPicked(c []float32, width int, x []float32, p *Picks, m, from, depth int, strip []float32, columns int, add bool) {
	room := Strip
	if columns <= Strip/2 {
		room = Strip / 2
	}
	if min(m, depth, columns) <= 0 || columns > Strip || from < 0 || m > len(p.at) || depth > len(p.by)-from ||
		len(x) < p.size || width < room || width>>31 != 0 || len(c) < (m-1)*width+room || len(strip) < depth*Strip {
		panic("BUG: gemm: wrong sizes of a product of picked elements")
	}
	for d := 0; d < depth; d += depthMax {
		evenly(m, six, func(i, rows, tiles int) {
			to, at, by, b, deep := &c[i*width], &p.at[i], &p.by[from+d], &strip[d*Strip], min(depthMax, depth-d)
			if room == Strip {
				pickedTile(rows, to, &x[0], at, by, b, width, deep, tiles, add || d > 0)
			} else {
				pickedHalf(rows, to, &x[0], at, by, b, width, deep, tiles, add || d > 0)
			}
		})
	}
}
