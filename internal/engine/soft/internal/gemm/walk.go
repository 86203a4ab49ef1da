package gemm

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// WalkRows is how many rows Walk sums together, no more than FixedRows, WalkColumns how many columns at most.
const (
	WalkRows    = 4
	WalkColumns = wideFixed
)

// past is the first magnitude of a sum outside of the range.
const past = 1 << 31

// Walk sums products as Fixed does, in their order, for the piece of C from row i and column j on. It returns the
// columns of the piece, fewer than WalkColumns where b or the processor has fewer. sums has WalkRows rows of
// WalkColumns numbers, to which Walk adds. A number stays infinite, with its sign, once its magnitude is 2^31 or more
// after a product, or with Fours after a group. a and least have at least i+WalkRows rows. inside says that the sum
// inside a group of Fours may reach that: InsideGroup reports it.
func Walk(
	sums *[WalkRows * WalkColumns]float64, a []float32, least []int32, b []float32, i, j, k, n, how int, inside bool,
) (columns int) {
	if len(a) < (i+WalkRows)*k || len(least) < (i+WalkRows)*k || len(b) < k*n || k == 0 || j >= n {
		panic("BUG: gemm: slice shorter than its matrix")
	}
	a, least = a[i*k:][:WalkRows*k], least[i*k:][:WalkRows*k]
	width := columnsOf(n - j)
	columns = min(width, n-j)
	var piece [WalkRows * WalkColumns]float64
	for r := range WalkRows {
		copy(piece[r*width:][:columns], sums[r*WalkColumns:])
	}
	whole, rows := 0, 2 // the products and the rows of the assembly
	if machine >= simd.AVX2 {
		whole = k
	}
	if how == Fours {
		whole = whole / 4 * 4
	}
	if width == wideFixed {
		rows = WalkRows
	}
	var panel [depthNarrow * narrowFixed]float32
	for done := 0; done < k && !(done > 0 && over(piece[:WalkRows*width], width, columns)); {
		if done >= whole {
			end := min(done+depthPortable, k)
			walkPortable(piece[:], a, least, b[j:], k, n, width, columns, how, done, end)
			done = end
			continue
		}
		depth, right, step := min(depthNarrow, whole-done), &b[done*n+j], n
		if columns < width {
			for r := range depth {
				copy(panel[r*width:][:columns], b[(done+r)*n+j:])
			}
			right, step = &panel[0], width
		}
		for r := 0; r < WalkRows; r += rows {
			walkTile(&piece[r*width], &a[r*k+done], &least[r*k+done], right, step, k, depth, how == Fours, inside,
				rows == WalkRows)
		}
		done += depth
	}
	for r := range WalkRows {
		for c, s := range piece[r*width:][:columns] {
			if s >= past || s <= -past {
				s = math.Inf(int(math.Copysign(1, s)))
			}
			sums[r*WalkColumns+c] = s
		}
	}
	return columns
}

// over reports whether nothing changes any more in rows of width numbers of which columns count.
func over(sums []float64, width, columns int) bool {
	for ; len(sums) > 0; sums = sums[width:] {
		for _, s := range sums[:columns] {
			if s < past && s > -past {
				return false
			}
		}
	}
	return true
}

// depthPortable is after how many products the Go code looks whether all sums have left the range, a multiple of four.
const depthPortable = 16

// InsideGroup reports whether a sum inside a group of four products may reach the range, given the largest magnitudes
// of a and b.
func InsideGroup(a, b float32) bool { return (4*float64(a)*float64(b)+4)*(1+0x1p-8) >= past }

// Most returns the largest magnitude; no element is NaN.
func Most(list []float32) float32 {
	var most uint32
	for _, f := range list {
		most = max(most, math.Float32bits(f)&0x7fffffff)
	}
	return math.Float32frombits(most)
}

// walkPortable is Walk in Go, over products from on, a multiple of four, to end.
func walkPortable(
	sums []float64, a []float32, least []int32, b []float32, k, n, width, columns, how, from, end int,
) {
	each := 1
	if how == Fours {
		each = 4
	}
	for r := range WalkRows {
		row := sums[r*width:][:columns]
		for d := from; d < end; d += each {
			last := min(d+each, end)
			left, limit := a[r*k+d:r*k+last], least[r*k+d:r*k+last]
			for c, s := range row {
				if s >= past || s <= -past {
					continue
				}
				group, at := 0.0, d*n+c
				for e, f := range left {
					if group >= past || group <= -past {
						break
					}
					g, p := b[at], float32(0)
					if Exponent(g) > limit[e] {
						p = float32(f * g)
					}
					at += n
					v := math.Trunc(float64(p + float32(math.Copysign(0.5, float64(p)))))
					if e == 0 {
						group = v
						continue
					}
					// The exponent of the larger one, 41 above: adding it rounds to 12 bits of that, half to even.
					larger := max(math.Abs(group), math.Abs(v))
					if group += v; larger >= foursFrom {
						magic := math.Float64frombits(math.Float64bits(larger)&(0x7ff<<52)) * (1.5 * (1 << 41))
						group = float64(group+magic) - magic
					}
				}
				if how == Exact || group < past && group > -past {
					group += s
				}
				row[c] = group
			}
		}
	}
}
