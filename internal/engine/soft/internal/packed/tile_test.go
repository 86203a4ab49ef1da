package packed

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
	"github.com/anekit/anekit/internal/numerics"
)

// tiled runs a test where kernels of Tiles do.
func tiled(t testing.TB) {
	if machine != simd.AVX2 {
		had := machine
		if levels := simd.Levels(); len(levels) < 2 || levels[1] != simd.AVX2 {
			t.Skip("no AVX2")
		}
		machine = simd.AVX2
		t.Cleanup(func() { machine = had })
	}
}

// tileCase is a matrix and some vectors of a kind.
type tileCase struct {
	kind             kind
	rows, cols, wide int
	vectors          int
}

func tileCases() (all []tileCase) {
	for _, bits := range []int{4, 8} {
		for _, signed := range []bool{false, true} {
			for offset := range 4 {
				for i, s := range [][3]int{{16, 32, 32}, {17, 64, 64}, {33, 96, 96}, {40, 256, 128}, {16, 192, 32},
					{31, 512, 256}, {32, 384, 192}, {16, 640, 640}, {18, 1248, 32}} {
					all = append(all, tileCase{kind{bits, 0, signed, offset}, s[0], s[1], s[2], []int{1, 2, 3, 4, 33, 5, 6, 7}[(i+offset)%8]})
				}
			}
		}
	}
	return all
}

// products are those of Tiles, in room and sums of their own.
func products(w *Weights, vectors [][]float32, row int) (sums [][]float32, integers bool, tiles Tiles) {
	tiles = w.Tiles(make([]float32, w.TileRoom(len(vectors))), len(vectors))
	for i := range tiles.room {
		tiles.room[i] = float32(math.NaN())
	}
	for i, x := range vectors {
		tiles.Set(i, append([]float32{}, x...))
	}
	all := make([]float32, (len(vectors)-1)*TileStride+TileRows)
	integers = tiles.Products(all, len(vectors), row)
	for i := range vectors {
		sums = append(sums, all[i*TileStride:][:TileRows])
	}
	return sums, integers, tiles
}

// TestTiles: products are near those of exact elements.
func TestTiles(t *testing.T) {
	tiled(t)
	r := rand.New(rand.NewPCG(41, 42))
	for _, c := range tileCases() {
		w := random(r, c.kind, c.rows, c.cols, 1, c.wide, false)
		require.True(t, w.Tiled())
		var vectors [][]float32
		for i := range c.vectors {
			x := halvesOf(r, c.cols)
			if i%3 == 1 {
				x = steepHalves(r, c.cols)
			}
			vectors = append(vectors, x)
		}
		row := r.IntN(c.rows - TileRows + 1)
		sums, integers, _ := products(w, vectors, row)
		require.True(t, integers)
		for i, x := range vectors {
			for j, got := range sums[i] {
				reference := tileReference(w, x, row+j, c.vectors == 1 && w.Bits == 8)
				require.True(t, same(reference, got), "%v: vector %d row %d: %v for %v", c, i, j, got, reference)
				want, bound, group := 0.0, 0.0, w.wordGroup()
				for k, f := range x {
					most := 0.0
					for _, f := range x[k/group*group:][:group] {
						most = max(most, math.Abs(float64(f)))
					}
					scale, offset := w.rescale(w.block(row+j, k))
					e := scale * (w.number(w.integer((row+j)*w.Cols+k)) - offset)
					want += e * float64(f)
					bound += math.Abs(e) * most * 0x1p-15
				}
				require.InDelta(t, want, float64(got), bound, "%v: vector %d row %d", c, i, j)
			}
		}
	}
}

func TestTiled(t *testing.T) {
	tiled(t)
	for name, c := range map[string]struct {
		w    Weights
		want bool
	}{
		"4 bits":            {Weights{Bits: 4, Rows: 16, Cols: 64, High: 1, Wide: 32}, true},
		"8 bits, whole row": {Weights{Bits: 8, Rows: 17, Cols: 96, High: 1, Wide: 96}, true},
		"6 bits":            {Weights{Bits: 6, Rows: 16, Cols: 64, High: 1, Wide: 32}, false},
		"4 bits in bytes":   {Weights{Bits: 4, Width: 8, Rows: 16, Cols: 64, High: 1, Wide: 32}, false},
		"few rows":          {Weights{Bits: 8, Rows: 15, Cols: 64, High: 1, Wide: 32}, false},
		"small blocks":      {Weights{Bits: 8, Rows: 16, Cols: 64, High: 1, Wide: 16}, false},
		"blocks of rows":    {Weights{Bits: 8, Rows: 16, Cols: 64, High: 2, Wide: 32}, false},
		"a chip's halves":   {Weights{Bits: 8, Rows: 16, Cols: 64, High: 1, Wide: 32, Read: numerics.Exponent31}, false},
	} {
		require.Equal(t, c.want, c.w.Tiled(), name)
	}
}

// Vectors with an element that is infinite or not a number, and rows with one beyond the halves, have products of
// elements. The others beside them do not change.
func TestTilesOfAnyNumbers(t *testing.T) {
	tiled(t)
	r := rand.New(rand.NewPCG(43, 44))
	for _, bits := range []int{4, 8} {
		w := random(r, kind{bits, 0, false, 2}, 32, 128, 1, 32, false)
		vectors := [][]float32{halvesOf(r, 128), halvesOf(r, 128), halvesOf(r, 128), make([]float32, 128)}
		vectors[1][77], vectors[2][5] = float32(math.Inf(-1)), float32(math.NaN())
		sums, integers, tiles := products(w, vectors, 16)
		require.True(t, integers)
		for i, x := range vectors {
			require.Equal(t, i == 1 || i == 2, tiles.Exact(i))
			if tiles.Exact(i) {
				tiles.Product(sums[i], x, len(vectors), 16)
			}
			for j, got := range sums[i] {
				want := tileReference(w, x, 16+j, false)
				if tiles.Exact(i) {
					want = inOrder(w, x, 16+j)
				}
				require.True(t, same(want, got), "%d bits, vector %d row %d: %v for %v", bits, i, j, got, want)
			}
		}
		for _, scale := range []float64{65504, math.Inf(1), math.NaN()} {
			w := *w
			w.Scale = append([]fp16.Bits{}, w.Scale...)
			w.Scale[17*4+2] = fp16.FromFloat64(scale)
			w.Remember()
			for range 2 { // the second time it knows
				_, integers, _ = products(&w, vectors, 16)
				require.False(t, integers, "a scale of %v", scale)
				_, integers, _ = products(&w, vectors, 0)
				require.True(t, integers, "other rows")
			}
		}
	}
}

// Vectors of great and of the least halves, and weights of any scale within the bound.
func TestTilesAtTheLimits(t *testing.T) {
	tiled(t)
	r := rand.New(rand.NewPCG(45, 46))
	found := 0
	for range effort.Rounds(100, 4) {
		for _, c := range tileCases() {
			w := random(r, c.kind, c.rows, c.cols, 1, c.wide, true)
			var vectors [][]float32
			for range c.vectors {
				vectors = append(vectors, anyHalves(r, c.cols))
			}
			sums, integers, tiles := products(w, vectors, 0)
			for i, x := range vectors {
				for j := 0; j < TileRows && integers && !tiles.Exact(i); j++ {
					found++
					want := tileReference(w, x, j, c.vectors == 1 && w.Bits == 8)
					require.True(t, same(want, sums[i][j]), "%v: vector %d row %d: %v for %v", c, i, j, sums[i][j], want)
				}
			}
		}
	}
	require.Positive(t, found)
}

func TestTilesAllocateNothing(t *testing.T) {
	tiled(t)
	r := rand.New(rand.NewPCG(49, 50))
	for _, bits := range []int{4, 8} {
		w := random(r, kind{bits, 0, false, 3}, 16, 128, 1, 64, false)
		room, sums, x := make([]float32, w.TileRoom(2)), make([]float32, TileStride+TileRows), steepHalves(r, 128)
		require.Zero(t, testing.AllocsPerRun(5, func() {
			tiles := w.Tiles(room, 2)
			tiles.Set(0, x)
			tiles.Products(sums, 1, 0)
			tiles.Set(1, x)
			tiles.Products(sums, 2, 0)
		}))
	}
}
