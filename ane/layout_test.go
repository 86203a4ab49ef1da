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
		axes                     [5]int // N C D H W
		row, depth, plane, batch int
		bytes                    int
		packed                   bool
	}{
		{mil.FP16, nil, [5]int{1, 1, 1, 1, 1}, 64, 64, 64, 64, 64, true},
		{mil.FP16, []int{1}, [5]int{1, 1, 1, 1, 1}, 64, 64, 64, 64, 64, true},
		{mil.FP16, []int{33}, [5]int{1, 1, 1, 1, 33}, 128, 128, 128, 128, 128, true},
		{mil.FP16, []int{2, 32}, [5]int{1, 1, 1, 2, 32}, 64, 128, 128, 128, 128, true},
		{mil.FP16, []int{2, 31}, [5]int{1, 1, 1, 2, 31}, 64, 128, 128, 128, 128, false},
		{mil.FP32, []int{3, 2, 17}, [5]int{1, 3, 1, 2, 17}, 128, 256, 256, 768, 768, false},
		{mil.FP16, []int{1, 4, 1, 4}, [5]int{1, 4, 1, 1, 4}, 64, 64, 64, 256, 256, false},
		{mil.FP16, []int{2, 3, 5, 7}, [5]int{2, 3, 1, 5, 7}, 64, 320, 320, 960, 1920, false},
		{mil.Int8, []int{1, 2, 2, 64}, [5]int{1, 2, 1, 2, 64}, 64, 128, 128, 256, 256, true},
		{mil.FP32, []int{2, 3, 4, 5, 16}, [5]int{2, 3, 4, 5, 16}, 64, 320, 1280, 3840, 7680, true},
		{mil.Bool, []int{1, 1, 2, 3, 65}, [5]int{1, 1, 2, 3, 65}, 128, 384, 768, 768, 768, false},
		{mil.FP16, []int{1, 768, 1, 1}, [5]int{1, 768, 1, 1, 1}, 64, 64, 64, 49152, 49152, false},
	} {
		l := newLayout(t, "n", c.dtype, c.shape...)
		require.Equal(t, c.axes, [5]int{l.Batches, l.Channels, l.Depth, l.Height, l.Width}, "%v", c.shape)
		require.Equal(t, [4]int{c.row, c.depth, c.plane, c.batch}, [4]int{l.RowStride, l.DepthStride, l.PlaneStride, l.BatchStride}, "%v", c.shape)
		require.Equal(t, c.bytes, l.Bytes(), "%v", c.shape)
		require.Equal(t, c.packed, l.Packed(), "%v", c.shape)
		require.Equal(t, l.Elements()*c.dtype.Size(), l.PackedBytes())
		require.Equal(t, l.Elements(), l.Rows()*l.Width)
	}
}

// Every index of a shape has an offset of its own that follows the definition,
// and Row and Offset agree.
func TestOffsets(t *testing.T) {
	for _, shape := range [][]int{{}, {5}, {3, 5}, {2, 3, 5}, {2, 3, 2, 5}, {2, 3, 2, 2, 5}} {
		for _, d := range []mil.DType{mil.Int8, mil.FP16, mil.FP32} {
			l := newLayout(t, "x", d, shape...)
			full := make([]int, 5-len(shape), 5)
			for i := range full {
				full[i] = 1
			}
			full = append(full, shape...)
			if len(shape) < 5 && len(shape) > 2 { // N C H W: depth stands between C and H
				full = []int{full[1], full[2], 1, full[3], full[4]}
			}
			seen := map[int]bool{}
			row := 0
			index := make([]int, len(shape))
			for {
				var at [5]int
				copy(at[5-len(index):], index)
				if len(shape) < 5 {
					at = [5]int{at[1], at[2], 0, at[3], at[4]}
				}
				want := (((at[0]*full[1]+at[1])*full[2]+at[2])*full[3]+at[3])*l.RowStride + at[4]*d.Size()
				got, err := l.Offset(index...)
				require.NoError(t, err)
				require.Equal(t, want, got, "%v of %v", index, shape)
				require.False(t, seen[got])
				seen[got] = true
				if at[4] == 0 {
					require.Equal(t, got, l.Row(row))
					row++
				}
				if !next(index, shape) {
					break
				}
			}
			require.Len(t, seen, l.Elements())
			require.Equal(t, l.Rows(), row)
		}
	}
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

// Layouts put together by hand are refused when they reach outside themselves.
func TestHostileLayouts(t *testing.T) {
	b := open(t, 1<<16)
	good := newLayout(t, "x", mil.FP16, 2, 3, 4, 5)
	for name, spoil := range map[string]func(*ane.Layout){
		"zero axis":            func(l *ane.Layout) { l.Height = 0 },
		"negative axis":        func(l *ane.Layout) { l.Channels = -3 },
		"axes overflow":        func(l *ane.Layout) { l.Batches, l.Channels = math.MaxInt, math.MaxInt },
		"shape and axes":       func(l *ane.Layout) { l.Shape = []int{2, 3, 4, 6} },
		"rank 6":               func(l *ane.Layout) { l.Shape = []int{1, 1, 2, 3, 4, 5} },
		"rank 60":              func(l *ane.Layout) { l.Shape = make([]int, 60) },
		"overlapping rows":     func(l *ane.Layout) { l.RowStride = 8 },
		"overlapping planes":   func(l *ane.Layout) { l.PlaneStride = 64 },
		"overlapping depths":   func(l *ane.Layout) { l.DepthStride = 0 },
		"negative stride":      func(l *ane.Layout) { l.BatchStride = -64 },
		"ragged stride":        func(l *ane.Layout) { l.RowStride, l.DepthStride, l.PlaneStride, l.BatchStride = 65, 65*4, 65*4, 65*12 },
		"stride overflow":      func(l *ane.Layout) { l.BatchStride = math.MaxInt - 1 },
		"larger than MaxBytes": func(l *ane.Layout) { l.BatchStride = ane.MaxBytes },
		"zero":                 func(l *ane.Layout) { *l = ane.Layout{DType: mil.FP16} },
	} {
		l := good
		spoil(&l)
		_, err := ane.OnBlock(b, l)
		require.ErrorIs(t, err, ane.ErrShape, name)
	}
	typeless := good
	typeless.DType = mil.String
	_, err := ane.OnBlock(b, typeless)
	require.ErrorIs(t, err, ane.ErrType)

	wide := good // strides beyond the engine's own are a layout like any other
	wide.RowStride, wide.DepthStride, wide.PlaneStride, wide.BatchStride = 128, 1024, 1024, 4096
	x, err := ane.OnBlock(b, wide)
	require.NoError(t, err)
	require.NoError(t, x.Set(3, 1, 2, 3, 4))
	require.Equal(t, byte(0x42), b.Bytes()[4096+2*1024+3*128+4*2+1])
}

// The arithmetic of a Layout nobody made does not panic.
func TestZeroLayout(t *testing.T) {
	var l ane.Layout
	require.Zero(t, l.Bytes()+l.Elements()+l.RowBytes()+l.PackedBytes()+l.Rows()+l.Row(0)+l.Row(3))
	require.NotPanics(t, func() { _ = l.String(); _ = l.Packed() })
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
	require.False(t, newLayout(t, "x", mil.FP16, 4, 5).Equal(newLayout(t, "x", mil.FP16, 1, 1, 4, 5)), "the rank counts")
	require.False(t, l.Equal(newLayout(t, "x", mil.FP16, 2, 3, 5, 4)))
	wide := l
	wide.BatchStride += 64
	require.False(t, l.Equal(wide))
	require.Equal(t, "x fp16[2 3 4 5] row 64 plane 256 batch 768", l.String())
}

// Whatever a layout is made of: either it is refused or every element lies
// inside it, aligned.
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

// A layout put together by hand is refused, or its elements do not overlap and
// stay inside.
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
