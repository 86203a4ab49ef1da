package ane_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// Each case gives a shape and strides as another library would; the element at an index is where
// the strides say.
func TestNewStrided(t *testing.T) {
	for name, c := range map[string]struct{ shape, strides []int }{
		"scalar":              {nil, nil},
		"one element":         {[]int{1, 1, 1}, []int{0, -7, 1 << 60}},
		"row":                 {[]int{5}, []int{1}},
		"every second":        {[]int{5}, []int{2}},
		"dense matrix":        {[]int{3, 4}, []int{4, 1}},
		"padded matrix":       {[]int{3, 4}, []int{32, 1}},
		"transposed":          {[]int{3, 4}, []int{1, 3}},
		"columns of a matrix": {[]int{3, 1}, []int{9, 1}},
		"gaps in rows":        {[]int{3, 4}, []int{16, 3}},
		"rank 3":              {[]int{2, 3, 4}, []int{12, 4, 1}},
		"rank 3 with gaps":    {[]int{2, 3, 4}, []int{24, 8, 2}},
		"rank 3 reversed":     {[]int{2, 3, 4}, []int{1, 2, 6}},
		"rank 4":              {[]int{2, 3, 4, 5}, []int{60, 20, 5, 1}},
		"rank 4 permuted":     {[]int{2, 3, 4, 5}, []int{15, 5, 30, 1}},
		"rank 4 with ones":    {[]int{1, 3, 1, 5}, []int{0, 5, 3, 1}},
		"rank 5":              {[]int{2, 2, 2, 2, 3}, []int{24, 12, 6, 3, 1}},
		"rank 5 with gaps":    {[]int{2, 1, 2, 2, 3}, []int{96, 1, 24, 12, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ane.NewStrided("x", mil.FP16, c.shape, c.strides)
			require.NoError(t, err)
			require.NoError(t, l.Check())
			last := requirePlaces(t, l, c.shape, c.strides)
			mem := make([]byte, last+2)
			b, err := unimem.AdoptMemory(mem, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			x, err := ane.OnMemory(b, l)
			require.NoError(t, err)
			require.Len(t, x.Bytes(), len(mem), "up to the last element")
			var lengths, strides [ane.MaxRank]int64
			require.Equal(t, len(c.shape), x.Strides(&lengths, &strides))
			for i, n := range c.shape {
				require.Equal(t, int64(n), lengths[i])
				if n > 1 {
					require.Equal(t, int64(c.strides[i]), strides[i], "axis %d", i)
				}
			}
			dense, err := ane.OnBlock(open(t, 1<<14), newLayout(t, "y", mil.FP16, c.shape...))
			require.NoError(t, err)
			for i := range l.Elements() {
				require.NoError(t, dense.Set(float32(i+1), indexOf(c.shape, i)...))
			}
			_, err = ane.Copy(x, dense)
			require.NoError(t, err)
			all, err := x.Float32s()
			require.NoError(t, err)
			for i, v := range all {
				require.Equal(t, float32(i+1), v)
			}
			back, err := ane.OnBlock(open(t, 1<<14), dense.Layout())
			require.NoError(t, err)
			n, err := ane.Copy(back, x)
			require.NoError(t, err)
			require.Equal(t, l.PackedBytes(), n)
			all, err = back.Float32s()
			require.NoError(t, err)
			for i, v := range all {
				require.Equal(t, float32(i+1), v, "copied into dense rows")
			}
			small, err := unimem.AdoptMemory(mem[:last+1], nil)
			require.NoError(t, err)
			_, err = ane.OnMemory(small, l)
			require.ErrorIs(t, err, ane.ErrShort, "the last element does not fit")
			require.NoError(t, small.Close())
		})
	}
}

// requirePlaces checks each element's offset and returns the last one.
func requirePlaces(t testing.TB, l ane.Layout, shape, strides []int) (last int) {
	t.Helper()
	for i := range l.Elements() {
		index, want := indexOf(shape, i), 0
		for axis, n := range index {
			if shape[axis] > 1 {
				want += n * strides[axis] * l.DType.Size()
			}
		}
		got, err := l.Offset(index...)
		require.NoError(t, err)
		require.Equal(t, want, got, "index %v", index)
		last = max(last, got)
	}
	return last
}

// indexOf is the index of element i in row-major order.
func indexOf(shape []int, i int) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis], i = i%shape[axis], i/shape[axis]
	}
	return index
}

func TestNewStridedRefuses(t *testing.T) {
	for name, c := range map[string]struct{ shape, strides []int }{
		"rank 6":             {[]int{1, 1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1, 1}},
		"strides missing":    {[]int{2, 2}, []int{1}},
		"no elements":        {[]int{2, 0}, []int{1, 1}},
		"negative length":    {[]int{-2}, []int{1}},
		"broadcast":          {[]int{3, 4}, []int{0, 1}},
		"reversed":           {[]int{4}, []int{-1}},
		"overlapping rows":   {[]int{3, 4}, []int{3, 1}},
		"sliding windows":    {[]int{3, 4}, []int{1, 1}},
		"channels last":      {[]int{2, 3, 4, 5}, []int{60, 1, 15, 3}},
		"five axes and gaps": {[]int{2, 2, 2, 2, 2}, []int{32, 16, 8, 4, 2}},
		"huge length":        {[]int{1 << 62}, []int{1}},
		"huge stride":        {[]int{2}, []int{1 << 62}},
		"huge product":       {[]int{1 << 30, 1 << 30}, []int{1 << 30, 1}},
	} {
		_, err := ane.NewStrided("x", mil.FP16, c.shape, c.strides)
		require.ErrorIs(t, err, ane.ErrShape, name)
	}
	_, err := ane.NewStrided("x", mil.Int64, []int{1}, []int{1})
	require.ErrorIs(t, err, ane.ErrType)
}

// An accepted layout has each element where the strides say, and no two at the same bytes.
func FuzzNewStrided(f *testing.F) {
	f.Add([]byte{2, 3, 4, 12, 4, 1})
	f.Add([]byte{3, 4, 1, 3})
	f.Add([]byte{2, 2, 2, 2, 2, 16, 8, 4, 2, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		rank := min(len(in)/2, 7)
		var shape, strides []int
		for i := range rank {
			shape, strides = append(shape, int(int8(in[i]))%6), append(strides, int(int8(in[rank+i])))
		}
		l, err := ane.NewStrided("x", mil.FP16, shape, strides)
		if err != nil {
			require.ErrorIs(t, err, ane.ErrShape)
			return
		}
		require.NoError(t, l.Check())
		requirePlaces(t, l, shape, strides)
		seen := map[int]bool{}
		for i := range l.Elements() {
			at, err := l.Offset(indexOf(shape, i)...)
			require.NoError(t, err)
			require.False(t, seen[at])
			seen[at] = true
		}
	})
}

// Nothing writes to read-only memory; reading works.
func TestReadOnlyTensor(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 4)
	mem := make([]byte, l.Bytes())
	b, err := unimem.AdoptMemory(mem, nil, unimem.ReadOnly())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	x, err := ane.OnBlock(b, l)
	require.NoError(t, err)
	other := fp16On(t, 4)
	require.NoError(t, other.Set(1, 0))
	for name, call := range map[string]func() error{
		"Set":          func() error { return x.Set(1, 0) },
		"Write":        func() error { _, err := x.Write(make([]byte, 8)); return err },
		"WriteFloat32": func() error { _, err := x.WriteFloat32(make([]float32, 4)); return err },
		"FillFrom":     func() error { _, err := x.FillFrom(bytes.NewReader(make([]byte, 8))); return err },
		"Copy":         func() error { _, err := ane.Copy(x, other); return err },
	} {
		require.ErrorIs(t, call(), ane.ErrReadOnly, name)
	}
	part, err := x.Slice(0, 1, 3)
	require.NoError(t, err)
	require.ErrorIs(t, part.Set(1, 0), ane.ErrReadOnly)
	require.Equal(t, make([]byte, len(mem)), mem)
	_, err = ane.Copy(other, x)
	require.NoError(t, err)
	v, err := other.At(0)
	require.NoError(t, err)
	require.Zero(t, v)
}

// Two Blocks of the same memory alias.
func TestTensorsOfOneMemoryAlias(t *testing.T) {
	mem := make([]byte, 256)
	l := newLayout(t, "x", mil.FP16, 4)
	var all []*ane.Tensor
	for _, part := range [][]byte{mem, mem[:64], mem[64:]} {
		b, err := unimem.AdoptMemory(part, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, b.Close()) }()
		x, err := ane.OnBlock(b, l)
		require.NoError(t, err)
		all = append(all, x)
	}
	n, err := ane.Copy(all[0], all[1])
	require.NoError(t, err)
	require.Zero(t, n, "onto itself")
	_, err = ane.Copy(all[0], all[2])
	require.NoError(t, err)
	half, err := unimem.AdoptMemory(mem[2:130], nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, half.Close()) }()
	askew, err := ane.OnBlock(half, l)
	require.NoError(t, err)
	_, err = ane.Copy(all[0], askew)
	require.ErrorIs(t, err, ane.ErrAlias)
}
