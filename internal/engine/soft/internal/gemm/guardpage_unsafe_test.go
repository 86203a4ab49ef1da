//go:build linux || darwin

package gemm

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// number is an element of a matrix.
type number interface{ float32 | int32 | half }

// fence is memory for numbers between two inaccessible pages.
type fence[T number] struct{ middle []byte }

func newFence[T number](t *testing.T, n int) fence[T] {
	page := syscall.Getpagesize()
	size := (bytesOf[T](n) + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mem)) })
	middle := mem[page : page+size]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	return fence[T]{middle}
}

func bytesOf[T number](n int) int {
	var one T
	return n * int(unsafe.Sizeof(one))
}

// put copies values to the start or to the end of the memory, so that reading
// or writing one element beyond them faults.
func (f fence[T]) put(values []T, atEnd bool) []T {
	at := 0
	if atEnd {
		at = len(f.middle) - bytesOf[T](len(values))
	}
	s := unsafe.Slice((*T)(unsafe.Pointer(&f.middle[at])), len(values))
	copy(s, values)
	return s
}

func TestStaysInsideItsPages(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const m, k, n = 17, 70, 161
	fc, fa, fb := newFence[float32](t, m*n), newFence[float32](t, m*k), newFence[float32](t, k*n)
	left, right := halves(r, m*k), halves(r, k*n)
	eachKernel(t, func(t *testing.T) {
		for _, atEnd := range []bool{true, false} {
			for _, m := range []int{1, 2, 3, 4, 5, 7, 8, 9, m} {
				for _, k := range []int{1, 2, 9, k} {
					for _, n := range []int{1, 3, 15, 16, 17, 31, 32, 33, 48, 64, 65, 128, 129, n} {
						want := make([]float32, m*n)
						loop(want, left, right, m, k, n, rounded)
						c := fc.put(make([]float32, m*n), atEnd)
						Mul(c, fa.put(left[:m*k], atEnd), fb.put(right[:k*n], atEnd), m, k, n)
						sameBits(t, want, c, "%d x %d x %d", m, k, n)
					}
				}
			}
		}
	})
}

// TestFixedStaysInsideItsPages is of Fixed and Walk, whose kernels take several rows and columns together.
func TestFixedStaysInsideItsPages(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	const m, k, n = 2 * FixedRows, 70, 35
	sums, sizes := newFence[int32](t, m*n), newFence[float32](t, m*n)
	fa, least, fb := newFence[float32](t, m*k), newFence[int32](t, m*k), newFence[float32](t, k*n)
	eachKernel(t, func(t *testing.T) {
		for _, atEnd := range []bool{true, false} {
			for _, m := range []int{FixedRows, m} {
				for _, k := range []int{1, 3, 4, 9, k} {
					for _, n := range []int{1, 7, 8, 9, 15, 16, 17, n} {
						left, right, lowest, want, _ := fixedCase(r, m, k, n, 0x3000, 0x3c00)
						a, b, l := fa.put(left, atEnd), fb.put(right, atEnd), least.put(lowest, atEnd)
						for _, how := range []int{Exact, Fours} {
							s := sums.put(make([]int32, m*n), atEnd)
							Fixed(s, sizes.put(make([]float32, m*n), atEnd), a, l, b, m, k, n, how)
							if how == Exact {
								require.Equal(t, want[0], int64(s[0]))
								require.Equal(t, want[m*n-1], int64(s[m*n-1]))
							}
							for i := 0; i < m; i += WalkRows {
								var columns int
								for j := 0; j < n; j += columns {
									var piece [WalkRows * WalkColumns]float64
									columns = Walk(&piece, a, l, b, i, j, k, n, how, how == Fours)
								}
							}
						}
					}
				}
			}
		}
	})
}

// TestStripsStayInsideTheirPages is of MulStrips and PackStrips.
func TestStripsStayInsideTheirPages(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(19, 20))
	const m, k, n = 19, 37, 49
	fc, fa, fb := newFence[float32](t, m*n), newFence[float32](t, m*k), newFence[float32](t, InStrips(k, n))
	floats, bits := newFence[float32](t, k*n), newFence[half](t, k*n)
	for _, atEnd := range []bool{true, false} {
		for _, m := range []int{1, 4, 6, 7, 12, 13, m} {
			for _, k := range []int{1, 4, 7, k} {
				for _, n := range []int{1, 8, 9, 15, 16, 17, 24, 33, n} {
					left, right, want := halves(r, m*k), halves(r, k*n), make([]float32, m*n)
					loop(want, left, right, m, k, n, rounded)
					b := fb.put(make([]float32, InStrips(k, n)), atEnd)
					c, a := fc.put(make([]float32, m*n), atEnd), fa.put(left, atEnd)
					for _, stored := range []bool{false, true} {
						if stored {
							x := make([]half, k*n)
							for i, f := range right {
								x[i] = fp16.FromFloat32(f)
							}
							PackStrips(b, Pitch(k), 0, 1, Rows[half]{bits.put(x, atEnd), k, n, n})
						} else {
							PackStrips(b, Pitch(k), 0, 1, Rows[float32]{floats.put(right, atEnd), k, n, n})
						}
						clear(c)
						MulStrips(c, a, k, b, Pitch(k), m, n, k, false)
						sameBits(t, want, c, "%d x %d x %d", m, k, n)
					}
				}
			}
		}
	}
}

// TestLinesStayInsideTheirPages is of MulLines, which fetches what is beyond its rows.
func TestLinesStayInsideTheirPages(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	const count, most = 5, 97
	to, list, elements := newFence[float32](t, count), newFence[float32](t, most), newFence[half](t, count*most)
	eachKernel(t, func(t *testing.T) {
		for _, atEnd := range []bool{true, false} {
			for _, n := range []int{1, 31, 32, 64, most} {
				rows, vector, _, _ := lineCase(r, count, n, n)
				want, got := make([]float32, count), to.put(make([]float32, count), atEnd)
				MulLines(want, vector, rows)
				rows.Elements = elements.put(rows.Elements, atEnd)
				MulLines(got, list.put(vector, atEnd), rows)
				sameBits(t, want, got, "%d columns", n)
			}
		}
	})
}

// TestPickedStaysInsideItsPages is of MulPicked, PackSixes, DecodeLines and Turn.
func TestPickedStaysInsideItsPages(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(21, 22))
	const most, deep, width = 49, 37, 16
	fx, fc := newFence[float32](t, (most+6)*deep+2), newFence[float32](t, most*width)
	fb, fh := newFence[float32](t, deep*Strip), newFence[half](t, most*deep)
	for _, atEnd := range []bool{true, false} {
		for _, m := range []int{1, 5, 6, 7, 8, 13, most} {
			for _, k := range []int{1, 4, 7, deep} {
				x := make([]half, m*k)
				for i, f := range halves(r, m*k) {
					x[i] = fp16.FromFloat32(f)
				}
				x = fh.put(x, atEnd)
				p := Sixes(m, k)
				panel := fx.put(make([]float32, p.size+2), atEnd)
				PackSixes(panel, p, Rows[half]{x, k, m, m})
				strip := fb.put(halves(r, k*Strip), atEnd)
				for _, n := range []int{8, Strip} {
					c := fc.put(make([]float32, (m-1)*width+n), atEnd)
					MulPicked(c, width, panel[:p.size], p, m, 0, k, strip, n, false)
				}
				lines := fx.put(make([]float32, (k-1)*m+max(m, 8)), atEnd)
				DecodeLines(lines, m, Rows[half]{x, k, m, m})
				if lines = fx.put(make([]float32, m*k), atEnd); m <= width {
					Turn(fc.put(make([]float32, m*k)[:min(m*k, most*width)], atEnd), k, lines, k, m, m)
				}
			}
		}
	}
}

func TestDotsStayInsideTheirPages(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(21, 22))
	const most, count, n = 13, 6, 96
	fs, fx, fr := newFence[float32](t, most*count), newFence[float32](t, most*n), newFence[half](t, count*n)
	for _, atEnd := range []bool{true, false} {
		for vectors := 1; vectors <= most; vectors++ {
			for _, n := range []int{32, n} {
				rows := rowsOf(r, count, n, 0)
				x, elements := halves(r, vectors*n), rows.Elements
				rows.Elements = fr.put(elements, atEnd)
				sums := fs.put(make([]float32, vectors*count), atEnd)
				Dots(sums, fx.put(x, atEnd), rows)
				require.Equal(t, inLanes(x[(vectors-1)*n:], elements[(count-1)*n:]), sums[len(sums)-1])
			}
		}
	}
}
