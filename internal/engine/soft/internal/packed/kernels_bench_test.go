package packed

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// BenchmarkKernels is a product of 4 bits with each kernel, on a matrix that fits the cache, and as the floor reading
// the weights: ns for 64 bytes of them. Arranging a vector has the time of one.
func BenchmarkKernels(b *testing.B) {
	const rows, cols = 64, benchCols
	per := func(b *testing.B, bytes int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bytes/64), "ns/64B")
	}
	had := machine
	defer func() { machine = had }()
	for _, k := range simd.Levels() {
		for _, wide := range []int{32, 64, 128} {
			b.Run(fmt.Sprintf("%s/%d", k, wide), func(b *testing.B) {
				machine = k
				r := rand.New(rand.NewPCG(1, 2))
				w := random(r, kind{4, 0, true, 3}, rows, cols, 1, wide, false)
				w.Remember()
				v := w.Arrange(halvesOf(r, cols), make([]float32, w.VectorRoom()))
				sums, room := make([]float32, rows), make([]float32, w.Room(rows))
				for b.Loop() {
					w.Dots(sums, &v, room, 0)
				}
				per(b, len(w.Data))
			})
		}
		b.Run(fmt.Sprint(k, "/arrange"), func(b *testing.B) {
			machine = k
			r := rand.New(rand.NewPCG(1, 2))
			w := random(r, kind{4, 0, true, 3}, 1, cols, 1, 64, false)
			x, room := halvesOf(r, cols), make([]float32, w.VectorRoom())
			for b.Loop() {
				w.Arrange(x, room)
			}
		})
	}
	b.Run("floor", func(b *testing.B) {
		data := make([]byte, rows*cols/2)
		var sum uint64
		for b.Loop() {
			sum += read(data)
		}
		per(b, len(data))
	})
}

// BenchmarkTiles are products of some vectors with integers of 4 and 8 bits, of a matrix of 64 MiB (with -short of 256
// KiB). The floor of one vector is BenchmarkDotsFloor, which it reaches with 8 bits. On an EPYC of family 25 llama.cpp
// takes 24 ms for the 235 MB of a step with 8 bits, and computes 25e9 products a second in a prompt of 128 tokens.
func BenchmarkTiles(b *testing.B) {
	tiled(b)
	for _, bits := range []int{4, 8} {
		for _, n := range []int{1, 2, 5, 8, 64} {
			b.Run(fmt.Sprintf("%dbit/%d", bits, n), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				w := random(r, kind{bits, 0, false, 2}, benchRows()*4/bits, benchCols, 1, 64, false)
				w.Remember()
				tiles, sums := w.Tiles(make([]float32, w.TileRoom(n)), n), make([]float32, n*TileStride)
				for i := range n {
					tiles.Set(i, halvesOf(r, benchCols))
				}
				b.SetBytes(int64(len(w.Data)))
				for b.Loop() {
					for row := 0; row < w.Rows; row += TileRows {
						tiles.Products(sums, n, row)
					}
				}
				b.ReportMetric(float64(w.Rows*w.Cols*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gproducts/s")
			})
		}
	}
}
