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
				x, gamma, beta, got, whole := numbers(), numbers(), numbers(), halves(n), (n+block-1)/block*block
				want := make([]fp16.Bits, n)

				ok := Softmax(want, x, make([]float32, whole), make([]fp16.Bits, 2*whole))
				require.Equal(t, ok, Softmax(got, x, fenced(t, make([]float32, whole), atEnd), halves(2*whole)))
				require.Equal(t, want, got, n)
				if n%block == 0 { // without a copy, and with constants between pages
					room, some := fenced(t, make([]float32, n), atEnd), newShares(5)
					s, c := fenced(t, []shares{some}, atEnd), fenced(t, []quickConstants{quick}, atEnd)
					quickExp(&room[0], &x[0], n/block, &s[0], &c[0])
					ends := fenced(t, [][2]float32{{1, 1}}, atEnd)
					require.Equal(t, n/block, quickScale(&got[0], &room[0], n/block, &ends[0]))
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
		wantTotal, wantOK := Weights(want, more, 0.125)
		total, ok := Weights(x, fenced(t, more, atEnd), 0.125)
		require.Equal(t, wantOK, ok)
		require.Equal(t, wantTotal, total)
		require.Equal(t, want, x)
		quotients, got := make([]fp16.Bits, n), fenced(t, make([]fp16.Bits, n), atEnd)
		require.Equal(t, Quotients(quotients, want, 3, n), Quotients(got, x, 3, n))
		require.Equal(t, quotients, got)
		if n%4 == 0 { // constants and sums between pages
			x, sums := fenced(t, scores, atEnd), fenced(t, [][4]float64{{}}, atEnd)
			require.Zero(t, topVector(&x[0], part(more, 0), n/4, 0.125, &sums[0]))
			c := fenced(t, []weightConstants{weighing}, atEnd)
			weighVector(&x[0], part(more, 0), n/4, 0.125, 5, &sums[0], &c[0])
		}
	}
}
