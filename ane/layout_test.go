package ane_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

func TestNewLayout(t *testing.T) {
	for _, c := range []struct {
		dtype                    mil.DType
		shape                    []int
		axes                     [5]int // N D C H W
		row, plane, depth, batch int
		bytes                    int
		packed                   bool
	}{
		{mil.FP16, nil, [5]int{1, 1, 1, 1, 1}, 64, 64, 64, 64, 64, true},
		{mil.FP16, []int{1}, [5]int{1, 1, 1, 1, 1}, 64, 64, 64, 64, 64, true},
		{mil.FP16, []int{33}, [5]int{1, 1, 1, 1, 33}, 128, 128, 128, 128, 128, true},
		{mil.FP16, []int{2, 32}, [5]int{1, 1, 1, 2, 32}, 64, 128, 128, 128, 128, true},
		{mil.FP16, []int{2, 31}, [5]int{1, 1, 1, 2, 31}, 64, 128, 128, 128, 128, false},
		{mil.FP32, []int{3, 2, 17}, [5]int{1, 1, 3, 2, 17}, 128, 256, 768, 768, 768, false},
		{mil.FP16, []int{1, 4, 1, 4}, [5]int{1, 1, 4, 1, 4}, 64, 64, 256, 256, 256, false},
		{mil.FP16, []int{2, 3, 5, 7}, [5]int{2, 1, 3, 5, 7}, 64, 320, 960, 960, 1920, false},
		{mil.Int8, []int{1, 2, 2, 64}, [5]int{1, 1, 2, 2, 64}, 64, 128, 256, 256, 256, true},
		{mil.FP32, []int{2, 3, 4, 5, 16}, [5]int{2, 3, 4, 5, 16}, 64, 320, 1280, 3840, 7680, true},
		{mil.Bool, []int{1, 1, 2, 3, 65}, [5]int{1, 1, 2, 3, 65}, 128, 384, 768, 768, 768, false},
		{mil.FP16, []int{1, 768, 1, 1}, [5]int{1, 1, 768, 1, 1}, 64, 64, 49152, 49152, 49152, false},
	} {
		l := newLayout(t, "n", c.dtype, c.shape...)
		require.Equal(t, c.axes, [5]int{l.Batches, l.Depth, l.Channels, l.Height, l.Width}, "%v", c.shape)
		require.Equal(t, [4]int{c.row, c.plane, c.depth, c.batch},
			[4]int{l.RowStride, l.PlaneStride, l.DepthStride, l.BatchStride}, "%v", c.shape)
		require.Equal(t, c.bytes, l.Bytes(), "%v", c.shape)
		require.Equal(t, c.packed, l.Packed(), "%v", c.shape)
		require.Equal(t, l.Elements()*c.dtype.Size(), l.PackedBytes())
		require.Equal(t, l.Elements(), l.Rows()*l.Width)
		require.NoError(t, l.Check())
	}
}

// Tensors of real programs: shapes of their texts, and the strides that an M1 with macOS
// 27.0.1 (the first four), an M2 and an M5 printed for them.
func TestNewLayoutMatchesRealMachines(t *testing.T) {
	for _, c := range []struct {
		dtype                    mil.DType
		shape                    []int
		axes                     [5]int // N D C H W
		row, plane, depth, batch int
	}{
		{mil.FP16, []int{14, 1, 8, 256, 128}, [5]int{14, 1, 8, 256, 128}, 256, 65536, 524288, 524288},
		{mil.FP16, []int{3, 1, 8, 8, 128}, [5]int{3, 1, 8, 8, 128}, 256, 2048, 16384, 16384},
		{mil.FP16, []int{1, 1, 8, 264}, [5]int{1, 1, 1, 8, 264}, 576, 4608, 4608, 4608},
		{mil.FP16, []int{2, 1, 8, 1024}, [5]int{2, 1, 1, 8, 1024}, 2048, 16384, 16384, 16384},
		{mil.FP16, []int{1, 8, 3072}, [5]int{1, 1, 1, 8, 3072}, 6144, 49152, 49152, 49152},
		{mil.FP16, []int{1, 4, 1, 4}, [5]int{1, 1, 4, 1, 4}, 64, 64, 256, 256},
		{mil.FP32, []int{1, 64, 1, 1}, [5]int{1, 1, 64, 1, 1}, 64, 64, 4096, 4096},
	} {
		l := newLayout(t, "n", c.dtype, c.shape...)
		require.Equal(t, c.axes, [5]int{l.Batches, l.Depth, l.Channels, l.Height, l.Width}, "%v", c.shape)
		require.Equal(t, [4]int{c.row, c.plane, c.depth, c.batch},
			[4]int{l.RowStride, l.PlaneStride, l.DepthStride, l.BatchStride}, "%v", c.shape)
	}
}

// Offsets of the indexes of a shape increase in row-major order, and Row and Offset
// agree.
func TestOffsets(t *testing.T) {
	for _, shape := range [][]int{{}, {5}, {3, 5}, {2, 3, 5}, {2, 3, 2, 5}, {2, 3, 2, 2, 5}, {2, 1, 3, 1, 5}} {
		for _, d := range []mil.DType{mil.Int8, mil.FP16, mil.FP32} {
			l := newLayout(t, "x", d, shape...)
			index := make([]int, len(shape))
			elements := 0
			for more := true; more; more = next(index, shape) {
				// Only rows have padding, so the row-major number of an element gives its offset.
				want := elements/l.Width*l.RowStride + elements%l.Width*d.Size()
				got, err := l.Offset(index...)
				require.NoError(t, err)
				require.Equal(t, want, got, "%v of %v", index, shape)
				if elements%l.Width == 0 {
					require.Equal(t, got, l.Row(elements/l.Width))
				}
				elements++
			}
			require.Equal(t, l.Elements(), elements)
		}
	}
}

// A compiled program may assign the axes of a shape that are longer than 1 in order.
func TestAxesAreThoseOfTheProgram(t *testing.T) {
	at := func(n, d, c, h, w int) ane.Layout {
		row := (2*w + 63) / 64 * 64
		return ane.Layout{Name: "x", DType: mil.FP16, Batches: n, Depth: d, Channels: c, Height: h, Width: w,
			RowStride: row, PlaneStride: h * row, DepthStride: c * h * row, BatchStride: d * c * h * row}
	}
	for _, c := range []struct {
		shape  []int
		layout ane.Layout
		fits   bool
	}{
		{[]int{8}, at(1, 1, 8, 1, 1), true}, {[]int{8}, at(8, 1, 1, 1, 1), true}, {[]int{8}, at(1, 1, 1, 1, 8), true},
		{[]int{8}, at(1, 1, 4, 2, 1), false}, {[]int{8}, at(1, 1, 1, 1, 1), false}, {[]int{1}, at(1, 1, 1, 1, 1), true},
		{[]int{4, 6}, at(1, 1, 4, 1, 6), true}, {[]int{4, 6}, at(1, 1, 6, 1, 4), false},
		{[]int{4, 6}, at(4, 1, 6, 1, 1), true},
		{[]int{8, 4, 6}, at(8, 1, 1, 4, 6), true}, {[]int{8, 1, 6}, at(1, 1, 8, 6, 1), true},
		{[]int{8, 4, 6}, at(8, 1, 4, 1, 6), true}, {[]int{8, 4, 6}, at(8, 1, 4, 2, 6), false},
		{[]int{1, 8, 1, 1}, at(1, 1, 8, 1, 1), true}, {[]int{1, 8, 1, 1}, at(1, 1, 1, 1, 8), false},
		{[]int{2, 3, 4, 5}, at(2, 3, 1, 4, 5), false},
		{[]int{3, 1, 8, 8, 2}, at(3, 1, 8, 8, 2), true}, {[]int{3, 8, 1, 8, 2}, at(3, 1, 8, 8, 2), true},
		{[]int{3, 2, 4, 8, 2}, at(3, 2, 4, 8, 2), true}, {[]int{3, 4, 2, 8, 2}, at(3, 2, 4, 8, 2), true},
		{[]int{3, 4, 2, 8, 2}, at(3, 2, 4, 8, 3), false},
		{[]int{3, 4, 5}, at(1, 4, 3, 1, 5), false}, {[]int{3, 4, 5}, at(1, 3, 4, 1, 5), true},
		{[]int{3, 4, 1, 1, 5}, at(1, 4, 3, 1, 5), true}, {[]int{3, 2, 4, 1, 6}, at(1, 2, 3, 4, 6), true},
	} {
		l := c.layout
		l.Shape = c.shape
		require.Equal(t, c.fits, l.Fits(), "%v on %v", c.shape, l)
		if !c.fits {
			require.ErrorIs(t, l.Check(), ane.ErrShape)
			continue
		}
		require.NoError(t, l.Check())
		x := onBlock(t, l)
		values := make([]float32, l.Elements())
		for i := range values {
			values[i] = float32(i)
		}
		require.NoError(t, second(x.WriteFloat32(values)))
		index := make([]int, len(c.shape))
		for i, more := 0, true; more; i, more = i+1, next(index, c.shape) {
			v, err := x.At(index...)
			require.NoError(t, err)
			require.EqualValues(t, i, v, "%v of %v on %v", index, c.shape, l)
		}
	}
}

// A program with depth inside channels: the planes of one batch are not in row-major
// order.
func TestDepthInsideChannels(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 2, 3, 4, 5, 32) // N D C H W
	l.Shape = []int{2, 4, 3, 5, 32}
	require.NoError(t, l.Check())
	require.False(t, l.Packed())
	at, err := l.Offset(1, 3, 2, 4, 31)
	require.NoError(t, err)
	require.Equal(t, l.BatchStride+3*l.PlaneStride+2*l.DepthStride+4*l.RowStride+62, at)
	l.Shape = []int{2, 3, 4, 5, 32}
	require.True(t, l.Packed())
}

// Strides of axes of length 1 are ignored.
func TestStridesOfSingleAxes(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 1, 8, 4, 32)
	odd := l
	odd.BatchStride, odd.DepthStride = 0, 7
	require.NoError(t, odd.Check())
	require.True(t, odd.Equal(l))
	require.True(t, odd.Packed())
	require.Equal(t, l.Bytes(), odd.Bytes())
	odd.BatchStride = 1 << 20
	require.Equal(t, 1<<20, odd.Bytes(), "the driver requires whole batches")
	odd.DepthStride = -1
	require.ErrorIs(t, odd.Check(), ane.ErrShape)
}

// next counts index up within shape, the last axis fastest.
func next(index, shape []int) bool {
	for i := len(shape) - 1; i >= 0; i-- {
		if index[i]++; index[i] < shape[i] {
			return true
		}
		index[i] = 0
	}
	return false
}

func TestNewLayoutRefuses(t *testing.T) {
	for _, c := range []struct {
		dtype mil.DType
		shape []int
		err   error
	}{
		{mil.FP16, []int{0}, ane.ErrShape},
		{mil.FP16, []int{2, -1}, ane.ErrShape},
		{mil.FP16, []int{math.MinInt}, ane.ErrShape},
		{mil.FP16, []int{math.MaxInt, math.MaxInt}, ane.ErrShape},
		{mil.FP16, []int{1 << 40}, ane.ErrShape}, // 2 TiB
		{mil.FP16, []int{1 << 20, 1 << 20}, ane.ErrShape},
		{mil.FP16, []int{1 << 35, 1}, ane.ErrShape}, // 64 bytes for each row of 2
		{mil.FP16, []int{1, 1, 1, 1, 1, 1}, ane.ErrShape},
		{mil.BF16, []int{1}, ane.ErrType},
		{mil.FP64, []int{1}, ane.ErrType},
		{mil.Int4, []int{2}, ane.ErrType},
		{mil.String, []int{1}, ane.ErrType},
		{mil.DType(0), []int{1}, ane.ErrType},
		{mil.DType(200), []int{1}, ane.ErrType},
	} {
		_, err := ane.NewLayout("x", c.dtype, c.shape...)
		require.ErrorIs(t, err, c.err, "%v %v", c.dtype, c.shape)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "x", e.Name)
	}
	l, err := ane.NewLayout("x", mil.Int8, ane.MaxBytes)
	require.NoError(t, err)
	require.Equal(t, ane.MaxBytes, l.Bytes())
}

func TestNewLayoutKeepsItsShape(t *testing.T) {
	shape := []int{2, 3}
	l := newLayout(t, "x", mil.FP16, shape...)
	shape[0] = 9
	require.Equal(t, []int{2, 3}, l.Shape)
}

// Check refuses hand-made layouts with elements outside of their bytes.
func TestHostileLayouts(t *testing.T) {
	b := open(t, 1<<16)
	good := newLayout(t, "x", mil.FP16, 2, 3, 4, 5)
	for name, spoil := range map[string]func(*ane.Layout){
		"zero axis":          func(l *ane.Layout) { l.Height = 0 },
		"negative axis":      func(l *ane.Layout) { l.Channels = -3 },
		"axes overflow":      func(l *ane.Layout) { l.Batches, l.Channels = math.MaxInt, math.MaxInt },
		"shape and axes":     func(l *ane.Layout) { l.Shape = []int{2, 3, 4, 6} },
		"rank 6":             func(l *ane.Layout) { l.Shape = []int{1, 1, 2, 3, 4, 5} },
		"rank 60":            func(l *ane.Layout) { l.Shape = make([]int, 60) },
		"overlapping rows":   func(l *ane.Layout) { l.RowStride = 8 },
		"overlapping planes": func(l *ane.Layout) { l.PlaneStride = 64 },
		"overlapping depths": func(l *ane.Layout) {
			l.Depth, l.Channels, l.DepthStride = 3, 1,
				0
			l.Shape = []int{2, 3, 1, 4, 5}
		},
		"negative stride": func(l *ane.Layout) { l.BatchStride = -64 },
		"ragged stride": func(l *ane.Layout) {
			l.RowStride, l.DepthStride, l.PlaneStride, l.BatchStride = 65,
				65*4, 65*4, 65*12
		},
		"stride overflow":      func(l *ane.Layout) { l.BatchStride = math.MaxInt - 1 },
		"larger than MaxBytes": func(l *ane.Layout) { l.BatchStride = ane.MaxBytes },
		"zero":                 func(l *ane.Layout) { *l = ane.Layout{DType: mil.FP16} },
	} {
		l := good
		spoil(&l)
		_, err := ane.OnBlock(b, l)
		require.ErrorIs(t, err, ane.ErrShape, name)
	}
	rows, planes := good, good
	rows.RowStride, planes.PlaneStride = 8, 128
	require.ErrorContains(t, rows.Check(), "RowStride is 8, a row spans 10 bytes")
	require.ErrorContains(t, planes.Check(), "PlaneStride is 128, axis Height spans 202 bytes")

	typeless := good
	typeless.DType = mil.String
	_, err := ane.OnBlock(b, typeless)
	require.ErrorIs(t, err, ane.ErrType)

	wide := good // larger strides than the engine's are valid
	wide.RowStride, wide.PlaneStride, wide.DepthStride, wide.BatchStride = 128, 1024, 4096, 4096
	x, err := ane.OnBlock(b, wide)
	require.NoError(t, err)
	require.NoError(t, x.Set(3, 1, 2, 3, 4))
	require.Equal(t, byte(0x42), b.Bytes()[4096+2*1024+3*128+4*2+1])
}

// The methods of the zero Layout do not panic.
func TestZeroLayout(t *testing.T) {
	var l ane.Layout
	require.Zero(t, l.Bytes()+l.Elements()+l.RowBytes()+l.PackedBytes()+l.Rows()+l.Row(0)+l.Row(3))
	_, _ = l.String(), l.Packed()
	_, err := l.Offset(0)
	require.ErrorIs(t, err, ane.ErrShape)
	l.Shape = []int{1, 1, 1, 1, 1, 1}
	_, err = l.Offset(0, 0, 0, 0, 0, 0)
	require.ErrorIs(t, err, ane.ErrShape)
}

func TestOffsetRefuses(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 2, 3)
	for _, index := range [][]int{nil, {0}, {0, 0, 0}, {2, 0}, {0, 3}, {-1, 0}, {0, math.MinInt}, {math.MaxInt, 0}} {
		_, err := l.Offset(index...)
		require.ErrorIs(t, err, ane.ErrShape, "%v", index)
	}
}

func TestLayoutEqual(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 2, 3, 4, 5)
	require.True(t, l.Equal(newLayout(t, "other", mil.FP16, 2, 3, 4, 5)))
	require.False(t, l.Equal(newLayout(t, "x", mil.Int16, 2, 3, 4, 5)))
	require.False(t, newLayout(t, "x", mil.FP16, 4, 5).Equal(newLayout(t, "x", mil.FP16, 1, 1, 4, 5)),
		"the rank counts")
	require.False(t, l.Equal(newLayout(t, "x", mil.FP16, 2, 3, 5, 4)))
	wide := l
	wide.BatchStride += 64
	require.False(t, l.Equal(wide))
	require.Equal(t, "x fp16[2 3 4 5] row 64 plane 256 batch 768", l.String())
}

// NewLayout refuses a shape, or every element of the layout lies inside it, aligned.
func FuzzLayout(f *testing.F) {
	f.Add(uint8(mil.FP16), 2, 3, 4, 5, 6, 5)
	f.Add(uint8(mil.FP32), 1, 1, 1, 1, 1, 0)
	f.Add(uint8(mil.Int8), 1<<40, 1<<40, 1, 1, 1<<62, 4)
	f.Fuzz(func(t *testing.T, dtype uint8, a, b, c, d, e, rank int) {
		shape := []int{a, b, c, d, e, 1, 1}[:uint(rank)%8]
		l, err := ane.NewLayout("x", mil.DType(dtype), shape...)
		if err != nil {
			return
		}
		last := make([]int, len(shape))
		for i, n := range shape {
			last[i] = n - 1
		}
		end, err := l.Offset(last...)
		require.NoError(t, err)
		require.LessOrEqual(t, end+l.DType.Size(), l.Bytes())
		require.LessOrEqual(t, l.Bytes(), ane.MaxBytes)
		require.Zero(t, l.RowStride%ane.RowAlign)
		require.Equal(t, end, l.Row(l.Rows()-1)+l.RowBytes()-l.DType.Size())
		require.GreaterOrEqual(t, l.Bytes(), l.PackedBytes())
		require.True(t, l.Equal(l))
	})
}

// Check refuses a hand-made layout, or its elements do not overlap and lie inside it.
func FuzzHandMade(f *testing.F) {
	f.Add(2, 3, 1, 4, 64, 256, 256, 768, 5)
	f.Add(1, 1, 2, 2, 8, 16, 32, 32, 2)
	f.Add(1, 1, 1, 1, 0, 0, 0, 0, 1)
	f.Add(3, 2, 1, 2, 12, 28, 28, 52, 3)
	b, err := unimem.Open(1<<16, unimem.OnHeap())
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, b.Close()) })
	f.Fuzz(func(t *testing.T, n, c, d, h, row, depth, plane, batch, w int) {
		l := ane.Layout{Name: "x", DType: mil.Int32, Shape: []int{n, c, d, h, w},
			Batches: n, Channels: c, Depth: d, Height: h, Width: w,
			BatchStride: batch, PlaneStride: plane, DepthStride: depth, RowStride: row}
		x, err := ane.OnBlock(b, l)
		if err != nil {
			return
		}
		src, dst := make([]float32, l.Elements()), make([]float32, l.Elements())
		for i := range src {
			src[i] = float32(i)
		}
		require.NoError(t, second(x.WriteFloat32(src)))
		require.NoError(t, second(x.ReadFloat32(dst)))
		require.Equal(t, src, dst)
		v, err := x.At(n-1, c-1, d-1, h-1, w-1)
		require.NoError(t, err)
		require.Equal(t, float32(len(src)-1), v)
	})
}
