package gemm

// Sizes of Dots.
const (
	dotsPiece = 32   // columns of a step
	dotsDepth = 1024 // columns of a part, of which the vectors that are multiplied together stay in a first-level cache
	dotsMost  = 6    // vectors
)

// Dotted reports whether Dots takes rows of n elements on this machine.
func Dotted(n int) bool { return Strips() && n > 0 && n%dotsPiece == 0 }

// Dots sets sums to the products of vectors, one after another, with an even number of rows of halves: those of the
// first vector, then those of the next. Each is the sum of parts of 1024 columns. In a part column k belongs to lane k
// mod 8, and neighbouring lanes are added in three rounds.
func Dots(sums, vectors []float32, r Rows[half]) {
	n := len(vectors) / max(r.N, 1)
	if !Dotted(r.N) || n < 1 || r.Count < 2 || r.Count%2 != 0 || r.Stride < r.N || len(vectors)%r.N != 0 || len(sums) != n*r.Count ||
		len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of products with rows")
	}
	clear(sums)
	for at := 0; at < r.N; at += dotsDepth {
		pieces := min(dotsDepth, r.N-at) / dotsPiece
		evenly(n, dotsMost, func(v, some, times int) {
			for ; times > 0; times-- {
				dotRows(some, &sums[v*r.Count], r.Count, &vectors[v*r.N+at], r.N, &r.Elements[at], r.Stride, pieces, r.Count/2)
				v += some
			}
		})
	}
}
