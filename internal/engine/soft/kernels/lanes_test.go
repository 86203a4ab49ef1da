package kernels

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// TestPartsOfLanes loads and stores lanes in parts, and compares each element with its place by its axes.
func TestPartsOfLanes(t *testing.T) {
	for _, c := range []struct{ shape, axes []int }{
		{[]int{7, 3}, []int{0}}, {[]int{7, 3}, []int{1}}, {[]int{2, 6, 5}, []int{1}}, {[]int{3, 4, 2}, []int{0, 2}},
		{[]int{4, 3, 5, 2}, []int{0, 2}}, {[]int{6, 70}, []int{0}},
	} {
		n := 1
		for _, d := range c.shape {
			n *= d
		}
		from, to := run.Vec{Single: make([]float32, n)}, run.Vec{Single: make([]float32, n)}
		for i := range from.Single {
			from.Single[i] = float32(i + 1)
		}
		l := newLanes(c.shape, c.axes)
		m := make([]float32, l.length*l.tile)
		for g := range l.groups() {
			base, width, lane := l.group(g)
			for lo := 0; lo < l.length; lo += 2 {
				hi := min(lo+2, l.length)
				l.load(&from, m, base, width, lo, hi)
				for j := lo; j < hi; j++ {
					for k := range width {
						require.Equal(t, elementOfLane(c.shape, c.axes, lane+k, j), int(m[(j-lo)*width+k])-1, "%+v", c)
					}
				}
				l.store(&to, m, base, width, lo, hi)
			}
		}
		require.Equal(t, from.Single, to.Single, "%+v", c)
	}
}

// elementOfLane is the offset of element j of a lane along axes.
func elementOfLane(shape, axes []int, lane, j int) int {
	at, stride := 0, 1
	for d := len(shape) - 1; d >= 0; d-- {
		i := &lane
		if slices.Contains(axes, d) {
			i = &j
		}
		at += *i % shape[d] * stride
		*i /= shape[d]
		stride *= shape[d]
	}
	return at
}

// TestRangeOfInt8Sums: sums of integers are exact up to 2^31, which they reach as an infinity.
func TestRangeOfInt8Sums(t *testing.T) {
	const most = 1 << 17
	for _, c := range []struct {
		x, w, last float32
		k          int
		want       float32
	}{
		{-128, -128, -128, most - 1, (1<<31 - 1<<14) * 0x1p-20}, {-128, -128, -128, most, float32(math.Inf(1))},
		{-128, -128, -127, most, (1<<31 - 128) * 0x1p-20}, {-128, 127, 8, 132105, float32(math.Inf(-1))},
		{-128, 127, 7, 132105, -(1<<31 - 128) * 0x1p-20},
	} {
		e := &elements{sums: &sums{rules: numerics.Int8Sums}, n: 1, totals: []int32{12345}, sizes: []float32{1 << 31}}
		e.k = c.k
		e.a, e.b = slices.Repeat([]float32{c.x}, c.k), slices.Repeat([]float32{c.w}, c.k)
		e.b[c.k-1] = c.last
		require.Equal(t, c.want, e.integer(0, 0x1p-20), "%+v", c)
		e.sizes[0] = 20000
		require.Equal(t, halves.ToOdd(12345*0x1p-20), e.integer(0, 0x1p-20),
			"a sum that cannot reach 2^31 is not added again")
	}
}

// TestRangeOfTruncation: a float beyond int32 becomes the nearest int32, and NaN 0.
func TestRangeOfTruncation(t *testing.T) {
	for v, want := range map[float32]int32{0: 0, 1.75: 1, -1.75: -1, 1 << 31: math.MaxInt32, -1 << 31: math.MinInt32,
		0x1.fffffep30: 0x7fffff80, -0x1.fffffep30: -0x7fffff80, float32(math.Inf(1)): math.MaxInt32,
		float32(math.Inf(-1)): math.MinInt32} {
		require.Equal(t, want, truncated(v), "%v", v)
	}
	require.Zero(t, truncated(float32(math.NaN())))
}

// TestTurnsInPieces turns the two inner axes of matrices of several pieces, of elements and of runs, and compares each
// element with its place.
func TestTurnsInPieces(t *testing.T) {
	for _, c := range []struct {
		d                       mil.DType
		batch, rows, cols, unit int
	}{
		{mil.Int8, 2, 260, 270, 1}, {mil.FP16, 2, 260, 270, 1}, {mil.FP32, 1, 300, 260, 1}, {mil.FP16, 2, 9, 5000, 1},
		{mil.FP16, 2, 130, 70, 2}, {mil.FP32, 1, 70, 130, 3}, {mil.Int8, 2, 65, 66, 5},
	} {
		n := c.batch * c.rows * c.cols * c.unit
		from, err := run.View(c.d, make([]byte, n*c.d.Size()))
		require.NoError(t, err)
		to, err := run.View(c.d, make([]byte, n*c.d.Size()))
		require.NoError(t, err)
		for i := range from.Raw {
			from.Raw[i] = byte(i ^ i>>8*7 ^ i>>16*31)
		}
		b := box{dims: []int{c.batch, c.cols, c.rows}, src: []int{c.rows * c.cols * c.unit, c.unit, c.cols * c.unit},
			dst: []int{c.rows * c.cols * c.unit, c.rows * c.unit, c.unit}}
		if c.unit > 1 {
			b.dims, b.src, b.dst = append(b.dims, c.unit), append(b.src, 1), append(b.dst, 1)
		}
		r, _ := (&Step{In: []*Tensor{{DType: c.d}}}).move(b)
		_, ok := r.(*transposer)
		require.True(t, ok, "%T", r)
		r.Run(&run.Call{Run: r, Ctx: t.Context(), Workers: 1, In: []run.Vec{from}, Out: []run.Vec{to}})
		size, wrong := c.unit*c.d.Size(), 0
		for i := range c.batch * c.rows * c.cols {
			m, row, col := i/c.cols/c.rows, i/c.cols%c.rows, i%c.cols
			at := (m*c.cols+col)*c.rows + row
			if string(from.Raw[i*size:][:size]) != string(to.Raw[at*size:][:size]) {
				wrong++
			}
		}
		require.Zero(t, wrong, "%+v", c)
	}
}

// TestSumsOfInt8AreAddedAgain: where a sum may reach 2^31, each element of a tile is added from its own row and column.
func TestSumsOfInt8AreAddedAgain(t *testing.T) {
	const rows, k, n = 2, 5, 3
	e := &elements{sums: &sums{rules: numerics.Int8Sums}, n: n, totals: make([]int32, rows*n),
		sizes: slices.Repeat([]float32{1 << 31}, rows*n)}
	e.k = k
	for i := range rows * k {
		e.a = append(e.a, float32(i*i-7))
	}
	for i := range k * n {
		e.b = append(e.b, float32(5-i*3))
	}
	for j := range rows * n {
		want := float32(0)
		for d := range k {
			want += e.a[j/n*k+d] * e.b[d*n+j%n]
		}
		require.Equal(t, want, e.integer(j, 1), "element %d", j)
	}
}

// TestTilesOfChipsSharePanels: the tiles of a range of columns of one matrix share one load of these columns.
func TestTilesOfChipsSharePanels(t *testing.T) {
	p := &counted{}
	const batch, down, across = 2, 2, 2
	made, _ := newProduct(batch, down*tileRows, 8, across*tileCols, 0, p)
	r := made.(*product).imitate(numerics.M1.Rules(), false)
	work := r.room()
	c := &run.Call{Run: r, Ctx: t.Context(), Workers: 1}
	require.NoError(t, c.AddRoom(make([]byte, 4*work)))
	r.Run(c)
	require.Equal(t, batch*across, p.rights)
	require.Equal(t, batch*across*down, p.lefts)
}
