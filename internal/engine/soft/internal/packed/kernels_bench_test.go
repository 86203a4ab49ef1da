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
