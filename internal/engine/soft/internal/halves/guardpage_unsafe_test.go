//go:build linux || darwin

package halves

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
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

// TestQuickKernelsStayInsideTheirPages: the kernels of AVX2 that compute in float32, and those of weights, read and
// write no element beyond what they are given, and have the results that they have elsewhere.
func TestQuickKernelsStayInsideTheirPages(t *testing.T) {
	onAVX2(t, func() {
		r := rand.New(rand.NewPCG(23, 24))
		for _, n := range []int{1, 4, 15, 16, 17, 32, 68, 113, 2048} {
			for _, atEnd := range []bool{true, false} {
				numbers := func() (x []fp16.Bits) {
					for range n {
						x = append(x, fp16.FromFloat64(r.NormFloat64()))
					}
					return fenced(t, x, atEnd)
				}
				halves := func(n int) []fp16.Bits { return fenced(t, make([]fp16.Bits, n), atEnd) }
				x, gamma, beta, got, size := numbers(), numbers(), numbers(), halves(n), SoftmaxRoom(n, 1)
				want := make([]fp16.Bits, n)

				room, copied := make([]float32, size), halves(size-powersRoom)
				require.Equal(t, 1, Softmax(want, slices.Clone(x), 1, n, n, room, slices.Clone(copied)))
				require.Equal(t, 1, Softmax(got, x, 1, n, n, fenced(t, room, atEnd), copied))
				require.Equal(t, want, got, n)
				if n%block == 0 {
					ends, from := fenced(t, [][2]float32{{1, 1}}, atEnd), fenced(t, room[powersRoom:][:n], atEnd)
					require.Equal(t, n/block, quickScale(&got[0], &from[0], n/block, &ends[0]))
				}

				change := NewScaled(0.01, 1.7)
				scaled := fenced(t, []Scaled{change}, atEnd)
				for _, by := range [][2][]fp16.Bits{{nil, nil}, {gamma, nil}, {gamma, beta}} {
					change.Normalize(want, slices.Clone(x), slices.Clone(by[0]), slices.Clone(by[1]))
					scaled[0].Normalize(got, x, by[0], by[1])
					require.Equal(t, want, got, n)
				}

				testFencedWeights(t, r, n, atEnd)
			}
		}
	})
}

func testFencedWeights(t *testing.T, r *rand.Rand, n int, atEnd bool) {
	var scores, mask []float32
	for range n {
		scores, mask = append(scores, float32(r.NormFloat64())), append(mask, float32(r.NormFloat64()))
	}
	for _, more := range [][]float32{nil, mask} {
		x := fenced(t, scores, atEnd)
		want := slices.Clone(scores)
		wantTotals, totals := make([]float64, 1), make([]float64, 1)
		wantRows := Weights(wantTotals, want, more, 0.125)
		require.Equal(t, wantRows, Weights(totals, x, fenced(t, more, atEnd), 0.125))
		require.Equal(t, wantTotals, totals)
		require.Equal(t, want, x)
		quotients, got := make([]fp16.Bits, n), fenced(t, make([]fp16.Bits, n), atEnd)
		require.Equal(t, Quotients(quotients, want, 3, n), Quotients(got, x, 3, n))
		require.Equal(t, quotients, got)
	}
}
