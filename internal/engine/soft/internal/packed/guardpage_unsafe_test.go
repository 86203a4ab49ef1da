//go:build linux || darwin

package packed

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
)

// fenced copies values to the start or to the end of memory between two inaccessible pages, so that reading or writing
// one element beyond them faults.
func fenced[T any](t *testing.T, values []T, atEnd bool) []T {
	t.Helper()
	if len(values) == 0 {
		return values
	}
	page, n := syscall.Getpagesize(), len(values)*int(unsafe.Sizeof(values[0]))
	size := (n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mem)) })
	middle := mem[page : page+size]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	at := 0
	if atEnd {
		at = size - n
	}
	s := unsafe.Slice((*T)(unsafe.Pointer(&middle[at])), len(values))
	copy(s, values)
	return s
}

// TestStaysInsideItsPages: the kernels read and write no element beyond their slices.
func TestStaysInsideItsPages(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	eachKernel(t, func(t *testing.T) {
		for i, k := range kinds() {
			if !effort.Sample(i, 9) {
				continue
			}
			for _, atEnd := range []bool{true, false} {
				if !atEnd && !effort.Full() {
					continue
				}
				for _, s := range []struct{ rows, cols, wide int }{{1, 64, 64}, {3, 192, 64}, {18, 128, 128}, {5,
					64, 16},
					{2, 80, 16}, {2, 96, 32}, {5, 192, 64}, {7, 64, 32}, {4, 320, 32}, {6, 256, 128},
					{2, 448, 32}, {3, 512, 32}, {2, 1536, 64}} {
					w := random(r, k, s.rows, s.cols, 1, s.wide, false)
					w.Data, w.Scale = fenced(t, w.Data, atEnd), fenced(t, w.Scale, atEnd)
					w.OffsetByte, w.OffsetHalf = fenced(t, w.OffsetByte, atEnd), fenced(t, w.OffsetHalf, atEnd)
					w.OffsetSingle = fenced(t, w.OffsetSingle, atEnd)
					x := halvesOf(r, s.cols)
					v := w.Arrange(fenced(t, x, atEnd), fenced(t, make([]float32, w.VectorRoom()), atEnd))
					sums := fenced(t, make([]float32, s.rows), atEnd)
					w.Dots(sums, &v, fenced(t, make([]float32, w.Room(s.rows)), atEnd), 0)
					for j, got := range sums {
						require.True(t, same(reference(w, x, j), got), "%v, %v: row %d", k, s, j)
					}
					floats := fenced(t, make([]float32, s.cols), atEnd)
					w.Floats(floats, s.rows-1, 0)
					for j, got := range floats {
						require.Equal(t, w.value(s.rows-1, j).Float32(), got, "%v, %v: column %d", k, s, j)
					}
					got := fenced(t, make([]fp16.Bits, s.cols), atEnd)
					w.Halves(got, s.rows-1, 0)
				}
			}
		}
	})
}

// TestTilesStayInsideTheirPages: the kernels read and write no element beyond their slices.
func TestTilesStayInsideTheirPages(t *testing.T) {
	tiled(t)
	r := rand.New(rand.NewPCG(47, 48))
	for _, c := range tileCases() {
		for _, atEnd := range []bool{true, false} {
			w := random(r, c.kind, c.rows, c.cols, 1, c.wide, false)
			w.Data, w.Scale = fenced(t, w.Data, atEnd), fenced(t, w.Scale, atEnd)
			w.OffsetByte, w.OffsetHalf = fenced(t, w.OffsetByte, atEnd), fenced(t, w.OffsetHalf, atEnd)
			w.OffsetSingle = fenced(t, w.OffsetSingle, atEnd)
			tiles := w.Tiles(fenced(t, make([]float32, w.TileRoom(c.vectors)), atEnd), c.vectors)
			for i := range c.vectors {
				tiles.Set(i, fenced(t, steepHalves(r, c.cols), atEnd))
			}
			sums := fenced(t, make([]float32, (c.vectors-1)*TileStride+TileRows), atEnd)
			for _, row := range []int{0, c.rows - TileRows} {
				require.True(t, tiles.Products(sums, c.vectors, row))
				tiles.Product(sums, make([]float32, c.cols), c.vectors, row)
			}
		}
	}
}
