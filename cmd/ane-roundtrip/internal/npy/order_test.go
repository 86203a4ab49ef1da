package npy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFortranByHand(t *testing.T) {
	// The matrix 1 2 3 / 4 5 6, column by column.
	a, err := read(bytes.NewReader(file(1, dict("|u1", "True", "(2, 3)"), "142536")), 0, nil)
	require.NoError(t, err)
	require.True(t, a.Fortran)
	require.Equal(t, "123456", string(a.Data))
	a, err = read(bytes.NewReader(file(1, dict(">u2", "True", "(2, 2)"), "aAbBcCdD")), 0, nil)
	require.NoError(t, err)
	require.Equal(t, "AaCcBbDd", string(a.Data))
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

func TestFortranRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		shape := make([]int, r.IntN(6))
		text, total := "", 1
		for d := range shape {
			shape[d] = r.IntN(6) // may be 0
			total *= shape[d]
			text += fmt.Sprint(shape[d]) + ","
		}
		code := []string{"|i1", "<f2", "<f4", "<i8"}[r.IntN(4)]
		size := int(code[2] - '0')
		data := make([]byte, total*size)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		a, err := read(bytes.NewReader(file(1, dict(code, "True", "("+text+")"), string(data))), 0, nil)
		require.NoError(t, err)
		require.Equal(t, shape, a.Shape)
		require.Len(t, a.Data, len(data))
		index := make([]int, len(shape))
		for range total {
			from, to := fortranOffset(shape, index)*size, cOffset(shape, index)*size
			require.Equal(t, data[from:from+size], a.Data[to:to+size])
			for d := range index {
				if index[d]++; index[d] < shape[d] {
					break
				}
				index[d] = 0
			}
		}
	}
}

// The order of an empty array is converted at once, whatever its other dimensions are.
func TestFortranEmpty(t *testing.T) {
	a, err := read(bytes.NewReader(file(1, dict("|i1", "True", "(9223372036854775807, 0)"), "")), 0, nil)
	require.NoError(t, err)
	require.Empty(t, a.Data)
	most := "(" + strings.Repeat("1, ", maxDimensions-1) + "2)"
	a, err = read(bytes.NewReader(file(1, dict("|i1", "True", most), "ab")), 0, nil)
	require.NoError(t, err)
	require.Equal(t, "ab", string(a.Data))
}

func TestBigEndian(t *testing.T) {
	for _, c := range []struct{ descr, in, want string }{
		{">f4", "abcd", "dcba"}, {">i2", "ab", "ba"}, {">f8", "abcdefgh", "hgfedcba"},
	} {
		a, err := read(bytes.NewReader(file(1, dict(c.descr, "False", "(1,)"), c.in)), 0, nil)
		require.NoError(t, err)
		require.True(t, a.Swapped)
		require.Equal(t, c.want, string(a.Data))
	}
	a, err := read(bytes.NewReader(file(1, dict(">u1", "False", "(2,)"), "ab")), 0, nil)
	require.NoError(t, err)
	require.False(t, a.Swapped, "single bytes have no byte order")
	require.Equal(t, "ab", string(a.Data))
}
