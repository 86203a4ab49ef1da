package blas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/blas"
)

// library opens the system's library, or skips.
func library(t testing.TB) *blas.Library {
	l, err := blas.Open()
	if err != nil {
		require.ErrorIs(t, err, blas.ErrUnavailable)
		t.Skip(err)
	}
	return l
}

// tape starts a Tape that the test closes.
func tape(t testing.TB, size int) *unimem.Tape {
	s, err := unimem.Start(size)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func fill(r *rand.Rand, m blas.Matrix) blas.Matrix {
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	return m
}

// reference is element (r, c) of a b in float64, and the sum of the products' magnitudes.
func reference(a, b blas.Matrix, r, c int) (sum, magnitude float64) {
	for k := range a.Cols {
		p := float64(a.At(r, k)) * float64(b.At(k, c))
		sum += p
		magnitude += math.Abs(p)
	}
	return sum, magnitude
}

// requireProduct compares c with a b + before: rounding of n sums in float32 adds at most n units in the last
// place of the magnitudes.
func requireProduct(t *testing.T, c, a, b blas.Matrix, before float64) {
	t.Helper()
	for i := range c.Rows {
		for j := range c.Cols {
			want, magnitude := reference(a, b, i, j)
			want += before
			limit := float64(a.Cols+1) * 0x1p-24 * (magnitude + math.Abs(before))
			require.InDelta(t, want, float64(c.At(i, j)), limit, "element (%d, %d)", i, j)
		}
	}
}

func TestProductOnATape(t *testing.T) {
	l := library(t)
	t.Log(l.Name())
	r := rand.New(rand.NewPCG(1, 2))
	s := tape(t, 8<<20)
	for _, d := range [][3]int{{1, 1, 1}, {1, 7, 1}, {3, 5, 2}, {128, 128, 128}, {64, 300, 17}, {5, 1, 9}} {
		for form := range 8 {
			t.Run(fmt.Sprint(d, form), func(t *testing.T) {
				defer s.Clear()
				// take returns rows x cols, stored transposed if bit of form is set.
				take := func(rows, cols, bit int) blas.Matrix {
					if form&bit != 0 {
						rows, cols = cols, rows
					}
					m, err := blas.Take(s, rows, cols)
					require.NoError(t, err)
					if form&bit != 0 {
						m = m.T()
					}
					return m
				}
				a, b, c := take(d[0], d[1], 1), take(d[1], d[2], 2), take(d[0], d[2], 4)
				fill(r, a)
				fill(r, b)
				for i := range c.Data {
					c.Data[i] = float32(math.NaN()) // is not read
				}
				require.NoError(t, l.Product(c, a, b))
				requireProduct(t, c, a, b, 0)
				for i := range c.Data {
					c.Data[i] = 100
				}
				require.NoError(t, l.ProductAdd(c, a, b))
				requireProduct(t, c, a, b, 100)
			})
		}
	}
}

// The library writes the elements of the destination alone, and reads those of the operands alone.
func TestRowsWithGaps(t *testing.T) {
	l := library(t)
	r := rand.New(rand.NewPCG(3, 4))
	const rows, inner, cols, guard = 6, 10, 7, -12345
	s := tape(t, 1<<20)
	wide := func(rows, cols, stride int) blas.Matrix {
		m, err := blas.Take(s, rows, stride)
		require.NoError(t, err)
		for i := range m.Data {
			m.Data[i] = guard
		}
		m.Cols = cols
		return m
	}
	a, b, c := wide(rows, inner, 16), wide(inner, cols, 11), wide(rows, cols, 32)
	for _, m := range []blas.Matrix{a, b} {
		for i := range m.Rows {
			for j := range m.Cols {
				m.Data[i*m.Stride+j] = float32(r.NormFloat64())
			}
		}
	}
	require.NoError(t, l.Product(c, a, b))
	requireProduct(t, c, a, b, 0)
	for i := range c.Rows {
		for j := c.Cols; j < c.Stride; j++ {
			require.EqualValues(t, guard, c.Data[i*c.Stride+j], "gap of row %d", i)
		}
	}
	last := c
	last.Data = c.Data[:(rows-1)*32+cols] // the last row needs no gap
	require.NoError(t, l.Product(last, a, b))
}

func TestEmpty(t *testing.T) {
	l := library(t)
	s := tape(t, 1<<14)
	take := func(rows, cols int) blas.Matrix {
		m, err := blas.Take(s, rows, cols)
		require.NoError(t, err)
		return m
	}
	require.NoError(t, l.Product(blas.Matrix{}, blas.Matrix{}, blas.Matrix{}))
	require.NoError(t, l.Product(take(0, 3), take(0, 2), take(2, 3)))
	c := take(2, 3)
	for i := range c.Data {
		c.Data[i] = 7
	}
	require.NoError(t, l.ProductAdd(c, take(2, 0), take(0, 3)))
	require.EqualValues(t, 7, c.At(1, 2))
	require.NoError(t, l.Product(c, take(2, 0), take(0, 3)))
	require.Equal(t, make([]float32, 6), c.Data, "an empty sum is 0")
}

// A wrong argument is an error before the library is called: OpenBLAS would print a line and
// change nothing, or read outside of the memory.
func TestRefusals(t *testing.T) {
	l := library(t)
	s := tape(t, 1<<16)
	take := func(rows, cols int) blas.Matrix {
		m, err := blas.Take(s, rows, cols)
		require.NoError(t, err)
		return m
	}
	a, b, c := take(2, 3), take(3, 4), take(2, 4)
	with := func(m blas.Matrix, change func(*blas.Matrix)) blas.Matrix { change(&m); return m }
	for name, x := range map[string]struct {
		c, a, b blas.Matrix
		want    error
		text    string
	}{
		"inner":       {c, take(2, 4), b, blas.ErrShape, "2 x 4 times 3 x 4 does not give 2 x 4"},
		"rows":        {take(3, 4), a, b, blas.ErrShape, "3 x 4"},
		"cols":        {c, a, take(3, 5), blas.ErrShape, "3 x 5"},
		"not swapped": {c, a.T(), b, blas.ErrShape, "3 x 2 times"},
		"negative":    {c, with(a, func(m *blas.Matrix) { m.Rows = -2 }), b, blas.ErrShape, "product a"},
		"stride":      {c, a, with(b, func(m *blas.Matrix) { m.Stride = 3 }), blas.ErrShort, "product b"},
		"huge stride": {c, a, with(b, func(m *blas.Matrix) { m.Stride = 1 << 31 }), blas.ErrShape, "32 bits"},
		"short": {with(c, func(m *blas.Matrix) { m.Data = m.Data[:7] }), a, b, blas.ErrShort,
			"need 8, Data has 7"},
		"same memory": {a.T(), a.T(), with(a, func(m *blas.Matrix) { m.Rows, m.Cols, m.Stride = 2, 2, 2 }),
			blas.ErrOverlap,
			"another span"},
		"in place": {with(b, func(m *blas.Matrix) { m.Rows = 2 }), a, b, blas.ErrOverlap,
			"another span"},
		"last element": {blas.Matrix{Data: a.Data[5:6], Rows: 1, Cols: 1, Stride: 1}, blas.Matrix{Data: a.Data, Rows: 1,
			Cols: 6, Stride: 6}, blas.Matrix{Data: b.Data, Rows: 6, Cols: 1, Stride: 1}, blas.ErrOverlap, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := l.Product(x.c, x.a, x.b)
			var e *blas.Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, x.want)
			require.ErrorContains(t, err, x.text)
		})
	}
	var none *blas.Library
	require.ErrorIs(t, none.Product(c, a, b), blas.ErrUnavailable)
	require.ErrorIs(t, new(blas.Library).Product(c, a, b), blas.ErrUnavailable)
	require.Empty(t, none.Name())
	_, err := blas.OpenFile("/no/such/library")
	require.ErrorIs(t, err, blas.ErrUnavailable)
	require.ErrorContains(t, err, "/no/such/library")
}

func TestMatrices(t *testing.T) {
	s := tape(t, 1<<14)
	_, err := blas.Take(s, 1000, 1000)
	require.ErrorIs(t, err, unimem.ErrTapeFull)
	_, err = blas.Take(s, -1, 4)
	require.ErrorIs(t, err, blas.ErrShape)
	_, err = blas.Take(s, math.MaxInt, 2)
	require.ErrorIs(t, err, blas.ErrShape)
	_, err = blas.Take(s, math.MaxInt/2, 2)
	require.ErrorIs(t, err, unimem.ErrSize)
	span, err := s.Take(64, 64)
	require.NoError(t, err)
	_, err = blas.On(span, 4, 5)
	require.ErrorIs(t, err, blas.ErrShort)
	_, err = blas.On(span[1:], 1, 1)
	require.ErrorIs(t, err, unimem.ErrInvalidAlignment)
	m, err := blas.On(span, 4, 4)
	require.NoError(t, err)
	m.Data[15] = 2
	require.EqualValues(t, 0x40, span[63], "the same bytes")
	require.EqualValues(t, 2, m.At(3, 3))
	require.EqualValues(t, 2, m.T().At(3, 3))
	require.Equal(t, m, m.T().T())
}

// Products of several goroutines do not disturb each other.
func TestConcurrentProducts(t *testing.T) {
	l := library(t)
	s := tape(t, 4<<20)
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			var m [3]blas.Matrix
			for i := range m {
				var err error
				if m[i], err = blas.Take(s, 96, 96); err != nil {
					t.Error(err)
					return
				}
			}
			fill(r, m[0])
			fill(r, m[1])
			for range 20 {
				if err := l.Product(m[2], m[0], m[1]); err != nil {
					t.Error(err)
				}
			}
			for i := range 96 {
				want, magnitude := reference(m[0], m[1], i, 95-i)
				if got := float64(m[2].At(i, 95-i)); math.Abs(got-want) > 97*0x1p-24*magnitude {
					t.Errorf("element (%d, %d) is %v, want %v", i, 95-i, got, want)
				}
			}
		})
	}
	wg.Wait()
}
