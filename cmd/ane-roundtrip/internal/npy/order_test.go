package npy

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToCByHand(t *testing.T) {
	// The matrix 1 2 3 / 4 5 6, column by column.
	f := &Array{Kind: UInt8, Shape: []int{2, 3}, Fortran: true, Data: []byte{1, 4, 2, 5, 3, 6}}
	c, err := f.ToC()
	require.NoError(t, err)
	require.Equal(t, &Array{Kind: UInt8, Shape: []int{2, 3}, Data: []byte{1, 2, 3, 4, 5, 6}}, c)
	require.Equal(t, []byte{1, 4, 2, 5, 3, 6}, f.Data, "ToC does not change the source")
	same, err := c.ToC()
	require.NoError(t, err)
	require.Same(t, c, same)
}

// fortranOffset and cOffset return the position of an element by the definition of each order.
func fortranOffset(shape, index []int) (at int) {
	for d := len(shape) - 1; d >= 0; d-- {
		at = at*shape[d] + index[d]
	}
	return at
}

func cOffset(shape, index []int) (at int) {
	for d := range shape {
		at = at*shape[d] + index[d]
	}
	return at
}

func TestToCRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		shape := make([]int, r.IntN(6))
		total := 1
		for d := range shape {
			shape[d] = r.IntN(6) // may be 0
			total *= shape[d]
		}
		kind := Kind(1 + r.IntN(int(Bool)))
		size := kind.Size()
		f := &Array{Kind: kind, Shape: shape, Fortran: true, Data: make([]byte, total*size)}
		for i := range f.Data {
			f.Data[i] = byte(r.Uint32())
		}
		c, err := f.ToC()
		require.NoError(t, err)
		require.False(t, c.Fortran)
		require.Equal(t, shape, c.Shape)
		require.Len(t, c.Data, len(f.Data))
		index := make([]int, len(shape))
		for range total {
			from, to := fortranOffset(shape, index)*size, cOffset(shape, index)*size
			require.Equal(t, f.Data[from:from+size], c.Data[to:to+size])
			for d := range index {
				if index[d]++; index[d] < shape[d] {
					break
				}
				index[d] = 0
			}
		}
	}
}

// TestToCManyOnes would take minutes if ToC took a step per element for each dimension of 1.
func TestToCManyOnes(t *testing.T) {
	shape := make([]int, 100_000)
	for i := range shape {
		shape[i] = 1
	}
	shape[0], shape[len(shape)-1] = 200_000, 2
	f := &Array{Kind: UInt8, Shape: shape, Fortran: true, Data: make([]byte, 400_000)}
	f.Data[1] = 7 // index (1, 0)
	c, err := f.ToC()
	require.NoError(t, err)
	require.Equal(t, byte(7), c.Data[2])
}

func TestBigEndian(t *testing.T) {
	for _, c := range []struct{ descr, in, want string }{
		{">f4", "abcd", "dcba"}, {">i2", "ab", "ba"}, {">f8", "abcdefgh", "hgfedcba"},
	} {
		a, err := Read(bytes.NewReader(file(1, dict(c.descr, "False", "(1,)"), c.in)), 0)
		require.NoError(t, err)
		require.True(t, a.Swapped)
		require.Equal(t, c.want, string(a.Data))
	}
	a, err := Read(bytes.NewReader(file(1, dict(">u1", "False", "(2,)"), "ab")), 0)
	require.NoError(t, err)
	require.False(t, a.Swapped, "single bytes have no byte order")
	require.Equal(t, "ab", string(a.Data))
}
