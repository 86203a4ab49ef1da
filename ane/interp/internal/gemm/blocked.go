//go:build amd64 || arm64

package gemm

// The assembly keeps a piece of C in registers while it runs along k: a tile of
// some rows and columns; a line, which is one row of a tile; or a band, which is
// one row of several tiles. It reads and writes whole pieces only. n is the
// distance between rows of C and of B, k that between rows of A, depth (at least
// 1) the number of rows of B. It starts from C if add is set, otherwise from +0.

const (
	// depthMax bounds a call, inside of which a goroutine cannot be preempted: it
	// takes about 1 us, and 10 to 60 us if every row of B is far away in memory
	// (measured on Sapphire Rapids, rows 1 MiB apart). Longer calls are not
	// faster, calls of 16 to 64 rows are slower.
	depthMax = 256
	// panelSize and pieceSize are what edge keeps on its stack, in float32s:
	// 64 rows of B and 8 of C, as wide as the widest tile.
	panelSize = 64 * 32
	pieceSize = 8 * 32
)

func mul(c, a, b []float32, m, k, n int) {
	if machine.kernel == portable {
		mulPortable(c, a, b, m, k, n)
		return
	}
	rows, cols, wide := shape()
	mt, nt := m/rows*rows, n/cols*cols
	for d := 0; d < k && nt > 0; d += depthMax {
		depth, add := min(depthMax, k-d), d > 0
		for j := 0; j < nt; j += cols {
			for i := 0; i < mt; i += rows {
				tile(&c[i*n+j], &a[i*k+d], &b[d*n+j], n, k, depth, add)
			}
		}
		for i := mt; i < m; i++ {
			j := 0
			for ; j+wide <= nt; j += wide {
				band(&c[i*n+j], &a[i*k+d], &b[d*n+j], n, depth, add)
			}
			for ; j < nt; j += cols {
				line(&c[i*n+j], &a[i*k+d], &b[d*n+j], n, depth, add)
			}
		}
	}
	if nt < n {
		edge(c, a, b, m, k, n, nt)
	}
}

// edge computes the columns from j on, fewer than a tile has, in copies of the
// width of a tile. What stands in the other columns of the copies is not used.
func edge(c, a, b []float32, m, k, n, j int) {
	var panel [panelSize]float32
	var piece [pieceSize]float32
	rows, cols, _ := shape()
	w := n - j
	for d := 0; d < k; d += panelSize / cols {
		depth, add := min(panelSize/cols, k-d), d > 0
		for r := range depth {
			copy(panel[r*cols:][:w], b[(d+r)*n+j:])
		}
		for i, high := 0, rows; i < m; i += high {
			if m-i < rows {
				high = 1
			}
			if add {
				for r := range high {
					copy(piece[r*cols:][:w], c[(i+r)*n+j:])
				}
			}
			if high > 1 {
				tile(&piece[0], &a[i*k+d], &panel[0], cols, k, depth, add)
			} else {
				line(&piece[0], &a[i*k+d], &panel[0], cols, depth, add)
			}
			for r := range high {
				copy(c[(i+r)*n+j:][:w], piece[r*cols:])
			}
		}
	}
}
