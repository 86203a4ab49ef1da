package gemm

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

// pieces gives the rows and columns of a tile, and the columns of a band. wide are those of 512-bit registers.
type pieces struct {
	rows, cols, long int
	wide             bool
}

const (
	// depthMax bounds a call, during which a goroutine cannot be preempted. A call takes about 1 us, and 10 to 60 us if
	// the rows of B are far apart (measured on Sapphire Rapids, 1 MiB apart). Longer calls are not faster; calls of 16
	// to 64 rows are slower.
	depthMax = 256
	// narrow is the width of the narrowest line, tall the height of its tile.
	// Fewer columns are copied first, depthNarrow rows of B at a time.
	narrow, tall = 16, 4
	depthNarrow  = 64
)

// choose returns the pieces for n columns, n >= narrow.
func choose(n int) pieces {
	if machine == simd.AVX512 && n >= 32 {
		return pieces{rows: 8, cols: 32, long: 128, wide: true}
	}
	return pieces{rows: tall, cols: narrow, long: 64}
}

// mul covers C with pieces. At the right and lower edges pieces overlap elements
// that are already computed: those are computed again from +0, to the same bits.
func mul(c, a, b []float32, m, k, n int) {
	switch {
	case machine == simd.Portable:
		mulPortable(c, a, b, m, k, n)
		return
	case n < narrow:
		mulNarrow(c, a, b, m, k, n)
		return
	}
	p := choose(n)
	right := n / p.cols * p.cols
	p.columns(c, a, b, m, k, n, 0, right)
	if right < n {
		p.columns(c, a, b, m, k, n, n-p.cols, n)
	}
}

// columns computes columns j0 to j1, a multiple of the tile width. One or two
// remaining rows are faster as lines than as an overlapping tile.
func (p pieces) columns(c, a, b []float32, m, k, n, j0, j1 int) {
	low := m / p.rows * p.rows
	p.tiles(c, a, b, k, n, 0, low, j0, j1)
	if m-low > 2 && low > 0 {
		p.tiles(c, a, b, k, n, m-p.rows, m, j0, j1)
	} else {
		p.lines(c, a, b, k, n, low, m, j0, j1, false)
	}
}

func (p pieces) tiles(c, a, b []float32, k, n, i0, i1, j0, j1 int) {
	for d := 0; d < k && i0 < i1; d += depthMax {
		for j := j0; j < j1; j += p.cols {
			for i := i0; i < i1; i += p.rows {
				tile(&c[i*n+j], &a[i*k+d], &b[d*n+j], n, k, min(depthMax, k-d), d > 0, p.wide)
			}
		}
	}
}

// lines computes rows of C, or adds to them.
func (p pieces) lines(c, a, b []float32, k, n, i0, i1, j0, j1 int, add bool) {
	for d := 0; d < k && i0 < i1; d += depthMax {
		for i := i0; i < i1; i++ {
			j := j0
			for ; j+p.long <= j1; j += p.long {
				band(&c[i*n+j], &a[i*k+d], &b[d*n+j], n, min(depthMax, k-d), add || d > 0, p.wide)
			}
			for ; j < j1; j += p.cols {
				line(&c[i*n+j], &a[i*k+d], &b[d*n+j], n, min(depthMax, k-d), add || d > 0, p.wide)
			}
		}
	}
}

// mulNarrow is mul for fewer columns than the narrowest piece. The other columns of the copies are not used.
func mulNarrow(c, a, b []float32, m, k, n int) {
	var panel [depthNarrow * narrow]float32
	var sums [tall * narrow]float32
	for d := 0; d < k; d += depthNarrow {
		depth, add := min(depthNarrow, k-d), d > 0
		for r := range depth {
			copy(panel[r*narrow:][:n], b[(d+r)*n:])
		}
		for i, high := 0, tall; i < m; i += high {
			if m-i < tall {
				high = 1
			}
			for r := 0; add && r < high; r++ {
				copy(sums[r*narrow:][:n], c[(i+r)*n:])
			}
			if high == tall {
				tile(&sums[0], &a[i*k+d], &panel[0], narrow, k, depth, add, false)
			} else {
				line(&sums[0], &a[i*k+d], &panel[0], narrow, depth, add, false)
			}
			for r := range high {
				copy(c[(i+r)*n:][:n], sums[r*narrow:])
			}
		}
	}
}
