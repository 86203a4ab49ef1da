package ane_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// numbered returns a tensor whose elements count up.
func numbered(t testing.TB, shape ...int) *ane.Tensor {
	x := onBlock(t, newLayout(t, "x", mil.Int32, shape...))
	all := make([]float32, x.Layout().Elements())
	for i := range all {
		all[i] = float32(i)
	}
	_, err := x.WriteFloat32(all)
	require.NoError(t, err)
	return x
}

// Every slice of every shape has the elements that indexing the whole tensor gives, and
// no others.
func TestSliceIsAViewOfTheElements(t *testing.T) {
	for _, shape := range [][]int{{7}, {3, 5}, {2, 3, 5}, {2, 3, 4, 17}, {3, 2, 3, 2, 5}, {1, 4, 1, 3}} {
		x := numbered(t, shape...)
		for axis := range shape {
			for from := range shape[axis] {
				for to := from + 1; to <= shape[axis]; to++ {
					s, err := x.Slice(axis, from, to)
					require.NoError(t, err)
					l := s.Layout()
					require.NoError(t, l.Check())
					require.Equal(t, to-from, l.Shape[axis])
					require.Same(t, x.Block(), s.Block())
					require.LessOrEqual(t, s.Offset()+len(s.Bytes()), x.Layout().Bytes())
					got, err := s.Float32s()
					require.NoError(t, err)
					require.Equal(t, expected(x, axis, from, to), got, "%v: axis %d, %d to %d", shape, axis, from, to)
				}
			}
		}
	}
}

// expected reads a slice element by element from the whole tensor.
func expected(x *ane.Tensor, axis, from, to int) []float32 {
	var want []float32
	shape := x.Layout().Shape
	index := make([]int, len(shape))
	var walk func(i int)
	walk = func(i int) {
		if i == len(shape) {
			v, err := x.At(index...)
			if err != nil {
				panic(err)
			}
			want = append(want, v)
			return
		}
		lo, hi := 0, shape[i]
		if i == axis {
			lo, hi = from, to
		}
		for index[i] = lo; index[i] < hi; index[i]++ {
			walk(i + 1)
		}
	}
	walk(0)
	return want
}

func TestSlicesOfSlicesWriteIntoTheWhole(t *testing.T) {
	x := numbered(t, 2, 3, 4, 5)
	s, err := x.Slice(1, 1, 3)
	require.NoError(t, err)
	s, err = s.Slice(-1, 2, 4)
	require.NoError(t, err)
	s, err = s.Slice(0, 1, 2)
	require.NoError(t, err)
	require.NoError(t, s.Set(-7, 0, 1, 3, 1))
	v, err := x.At(1, 2, 3, 3)
	require.NoError(t, err)
	require.Equal(t, float32(-7), v)
	n, err := s.Write(make([]byte, s.Layout().PackedBytes()))
	require.NoError(t, err)
	require.Equal(t, 2*4*2*4, n)
	all, err := x.Float32s()
	require.NoError(t, err)
	zeros := 0
	for _, v := range all {
		if v == 0 {
			zeros++
		}
	}
	require.Equal(t, 2*4*2+1, zeros, "and no other element except the first")
}

func TestInvalidSlices(t *testing.T) {
	x := fp16On(t, 2, 3)
	for _, c := range [][3]int{{2, 0, 1}, {-3, 0, 1}, {0, -1, 1}, {0, 1, 1}, {0, 2, 1}, {0, 0, 3}, {1, 0, 4}} {
		_, err := x.Slice(c[0], c[1], c[2])
		require.ErrorIs(t, err, ane.ErrShape, fmt.Sprint(c))
	}
	_, err := fp16On(t).Slice(0, 0, 1)
	require.ErrorIs(t, err, ane.ErrShape, "a scalar has no axis")
	require.NoError(t, x.Block().Close())
	_, err = x.Slice(0, 0, 1)
	require.ErrorIs(t, err, ane.ErrStale)
}

// Slice refuses a result whose order of axes is ambiguous.
func TestSliceKeepsTheOrderOfTheAxes(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 1, 3, 2, 2, 4) // D 3, C 2
	require.Equal(t, 3, l.Depth)
	l.Depth, l.Channels = 2, 3 // text N, C, D, H, W
	l.DepthStride, l.PlaneStride = l.Height*l.RowStride, 2*l.Height*l.RowStride
	require.NoError(t, l.Check())
	x := onBlock(t, l)
	_, err := x.Slice(1, 0, 2)
	require.ErrorIs(t, err, ane.ErrShape)
	s, err := x.Slice(1, 0, 1)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 2, 2, 4}, s.Layout().Shape)
}

// Bind accepts a slice with the program's layout and a permitted offset.
func TestSlicesAreBoundWhereTheRulesAllow(t *testing.T) {
	for _, offsets := range []bool{false, true} {
		var opts []soft.Option
		if offsets {
			opts = append(opts, soft.AllowOffsets())
		}
		d, err := ane.Open(soft.New(opts...), "")
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), ane.Source{Text: []byte(doubling)})
		require.NoError(t, err)
		require.NoError(t, m.Load(t.Context()))
		whole := onBlock(t, newLayout(t, "x", mil.FP16, 4, 1, 2, 3))
		wide := onBlock(t, newLayout(t, "x", mil.FP16, 1, 1, 2, 64))
		out := onBlock(t, m.Outputs()[0])
		for i, want := range []error{nil, ane.ErrOffset, ane.ErrOffset, ane.ErrOffset} {
			x, err := whole.Slice(0, i, i+1)
			require.NoError(t, err)
			r, err := m.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": out})
			if want != nil && !offsets {
				require.ErrorIs(t, err, want)
				continue
			}
			require.NoError(t, err)
			require.NoError(t, x.Set(float32(i+3), 0, 0, 1, 2))
			_, err = r.Evaluate(t.Context())
			require.NoError(t, err)
			v, err := out.At(0, 0, 1, 2)
			require.NoError(t, err)
			require.Equal(t, float32(2*i+6), v)
			require.NoError(t, r.Close())
		}
		askew, err := wide.Slice(3, 5, 8)
		require.NoError(t, err)
		_, err = m.Bind(map[string]*ane.Tensor{"x": askew}, map[string]*ane.Tensor{"y": out})
		require.ErrorIs(t, err, ane.ErrMismatch)
		if offsets {
			require.ErrorIs(t, err, ane.ErrAligned)
		}
		left, err := whole.Slice(0, 0, 1)
		require.NoError(t, err)
		right, err := whole.Slice(0, 1, 2)
		require.NoError(t, err)
		_, err = m.Bind(map[string]*ane.Tensor{"x": left}, map[string]*ane.Tensor{"y": left})
		require.ErrorIs(t, err, ane.ErrAlias)
		r, err := m.Bind(map[string]*ane.Tensor{"x": left}, map[string]*ane.Tensor{"y": right})
		require.NotErrorIs(t, err, ane.ErrAlias, "parts of the outermost axis do not overlap")
		if offsets {
			require.NoError(t, err)
			require.NoError(t, r.Close())
		}
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
	}
}

// A tensor on a span is stale after the tape is cleared, also if the span is taken again.
func TestTensorsOnClearedTapesAreStale(t *testing.T) {
	tape, err := unimem.Start(1 << 14)
	require.NoError(t, err)
	defer tape.Close()
	l := newLayout(t, "x", mil.FP16, 2, 5)
	span, err := tape.Take(l.Bytes(), ane.RowAlign)
	require.NoError(t, err)
	x, err := ane.OnSpan(tape, span, l)
	require.NoError(t, err)
	s, err := x.Slice(0, 0, 1)
	require.NoError(t, err)
	m := model(t, adder(t))
	in, out := tensors(t, m.Inputs()), tensors(t, m.Outputs())
	in["zeta"] = x
	r, err := m.Bind(in, out)
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)

	tape.Clear()
	for range 2 {
		require.Nil(t, x.Bytes())
		require.Nil(t, s.Bytes())
		_, err = x.At(0, 0)
		require.ErrorIs(t, err, ane.ErrStale)
		_, err = r.Evaluate(t.Context())
		require.ErrorIs(t, err, ane.ErrStale)
		_, err = m.Bind(in, out)
		require.ErrorIs(t, err, ane.ErrStale)
		if tape.Used() == 0 {
			_, err = ane.OnSpan(tape, span, l)
			require.ErrorIs(t, err, ane.ErrStale, "the span is not taken")
		}
		span, err = tape.Take(l.Bytes(), ane.RowAlign)
		require.NoError(t, err)
	}
	x, err = ane.OnSpan(tape, span, l)
	require.NoError(t, err)
	require.NoError(t, x.Set(1, 0, 0), "a new span")
	require.NoError(t, r.Close())
}
