package gemm

import "math"

// WalkRows and WalkColumns are the size of the piece of C that Walk sums together.
const (
	WalkRows    = 2
	WalkColumns = 8
)

// depthWalk is how many products are summed before Walk looks whether all sums have left the range.
const depthWalk = 64

// past is the first magnitude of a sum outside of the range.
const past = 1 << 31

// Walk sums products as Fixed does, in their order, for the piece of C from row i and column j on: sums has WalkRows
// rows of WalkColumns numbers, which begin with what it has and stay infinite, with the sign they had, once their
// magnitude is 2^31 or more: after a product, or with Fours after a group. a and least have at least i+WalkRows rows.
// Columns that b lacks are not summed.
func Walk(sums *[WalkRows * WalkColumns]float64, a []float32, least []int32, b []float32, i, j, k, n, how int) {
	if len(a) < (i+WalkRows)*k || len(least) < (i+WalkRows)*k || len(b) < k*n || k == 0 || j >= n {
		panic("BUG: gemm: slice shorter than its matrix")
	}
	a, least = a[i*k:][:WalkRows*k], least[i*k:][:WalkRows*k]
	done := 0
	if hasWalk() {
		whole := k
		if how == Fours {
			whole = k / 4 * 4
		}
		for done < whole && j+WalkColumns <= n {
			if done > 0 && over(sums) {
				done = k
				break
			}
			depth := min(depthWalk, whole-done)
			walkTile(&sums[0], &a[done], &least[done], &b[done*n+j], n, k, depth, how)
			done += depth
		}
		if j+WalkColumns > n {
			var panel [depthNarrow * WalkColumns]float32
			for done < whole {
				depth := min(depthNarrow, whole-done)
				for r := range depth {
					copy(panel[r*WalkColumns:][:n-j], b[(done+r)*n+j:])
				}
				walkTile(&sums[0], &a[done], &least[done], &panel[0], WalkColumns, k, depth, how)
				done += depth
			}
		}
	}
	if done < k {
		walkPortable(sums, a, least, b[j:], k, n, min(WalkColumns, n-j), how, done)
	}
	for c, s := range sums {
		if s >= past || s <= -past {
			sums[c] = math.Inf(int(math.Copysign(1, s)))
		}
	}
}

// over reports whether nothing changes any more.
func over(sums *[WalkRows * WalkColumns]float64) bool {
	for _, s := range sums {
		if s < past && s > -past {
			return false
		}
	}
	return true
}

// walkPortable is Walk in Go, over products from on, a multiple of four.
func walkPortable(
	sums *[WalkRows * WalkColumns]float64, a []float32, least []int32, b []float32, k, n, columns, how, from int,
) {
	each := 1
	if how == Fours {
		each = 4
	}
	for r := range WalkRows {
		row := sums[r*WalkColumns:][:columns]
		for d := from; d < k; d += each {
			end := min(d+each, k)
			for c, s := range row {
				group := 0.0
				for e := d; e < end; e++ {
					g, p := b[e*n+c], float32(0)
					if Exponent(g) > least[r*k+e] {
						p = float32(a[r*k+e] * g)
					}
					v := math.Trunc(float64(p + float32(math.Copysign(0.5, float64(p)))))
					if e == d {
						group = v
						continue
					}
					// The exponent of the larger one, 41 above: adding it rounds to 12 bits of that, half to even.
					larger := max(math.Abs(group), math.Abs(v))
					magic := math.Float64frombits(math.Float64bits(larger)&(0x7ff<<52)) * (1.5 * (1 << 41))
					group = float64(float64(group+v)+magic) - magic
				}
				if s < past && s > -past {
					row[c] = s + group
				}
			}
		}
	}
}
