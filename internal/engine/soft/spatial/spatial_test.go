//go:build linux || darwin

package spatial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// tensor is halves between two inaccessible pages: special ones, or fractions, many of whose means are halfway between
// two halves.
func tensor(t *testing.T, r *rand.Rand, n int, special bool) run.Vec {
	t.Helper()
	b := make([]byte, 2*n)
	for i := range n {
		h := fp16.FromFloat64(r.NormFloat64() * math.Exp2(float64(r.IntN(12)-14)))
		if special {
			h = fp16.FromFloat64(r.NormFloat64() * math.Exp2(float64(r.IntN(24)-14)))
		} else if n%2 == 0 {
			h = fp16.FromFloat64(math.Round(256*r.NormFloat64()) / 256)
		}
		if special && r.IntN(40) == 0 {
			h = []fp16.Bits{0x8000, 0, 1, 0x8001, fp16.Inf, fp16.Inf | 0x8000, 0x7bff, 0xfbff}[r.IntN(8)]
		}
		if special && r.IntN(400) == 0 {
			h = []fp16.Bits{fp16.NaN, 0xfe01}[r.IntN(2)]
		}
		b[2*i], b[2*i+1] = byte(h), byte(h>>8)
	}
	v, err := run.View(mil.FP16, fenced(t, b, r.IntN(2) == 0))
	require.NoError(t, err)
	return v
}

// made is the result of a runner of some workspace, on two workers that take unequal pieces.
func made(t *testing.T, r run.Runner, work, items, outs int, in ...run.Vec) []fp16.Bits {
	t.Helper()
	out := tensor(t, rand.New(rand.NewPCG(1, 1)), outs, false)
	c := &run.Call{Run: r, In: in, Out: []run.Vec{out}}
	for range 2 {
		room := fenced(t, make([]byte, 4*work), true)
		for i := range room {
			room[i] = 0x77
		}
		require.NoError(t, c.AddRoom(room))
	}
	c.Begin(t.Context(), 0, 1)
	r.Run(c) // all of it, then again in two pieces
	whole := append([]fp16.Bits{}, out.Half...)
	clear(out.Half)
	r.Span(c, items/3, items, 1)
	r.Span(c, 0, items/3, 0)
	require.Equal(t, whole, out.Half, "in two pieces")
	return whole
}

// same compares bits, those of a NaN too.
func same(t *testing.T, want, got []fp16.Bits, about string) {
	t.Helper()
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("%s: element %d is %#x, not %#x", about, i, got[i], want[i])
		}
	}
}

// each calls f for the places of x under window number i of a plane, -1 outside, in order.
func each(w *ops.Window, plane, i int, f func(k, at int)) {
	for k := range w.Kernel[1] * w.Kernel[2] {
		y := i/w.Out[2]*w.Strides[1] + k/w.Kernel[2]*w.Dilations[1] - w.Before[1]
		x := i%w.Out[2]*w.Strides[2] + k%w.Kernel[2]*w.Dilations[2] - w.Before[2]
		if y < 0 || y >= w.In[1] || x < 0 || x >= w.In[2] {
			f(k, -1)
			continue
		}
		f(k, (plane*w.In[1]+y)*w.In[2]+x)
	}
}

// plainMaxima has the lines of the result in Go.
type plainMaxima struct{ *ops.Window }

func (plainMaxima) Run(*run.Call) {}

func (r plainMaxima) Span(c *run.Call, lo, hi, _ int) {
	for i := lo * r.Out[2]; i < hi*r.Out[2]; i++ {
		most, n := math.Inf(-1), r.Out[1]*r.Out[2]
		each(r.Window, i/n, i%n, func(_, at int) {
			if at >= 0 {
				most = max(most, c.In[0].Value(at))
			}
		})
		c.Out[0].Half[i] = fp16.FromFloat64(most)
	}
}

// plainMeans has the lines of the result in Go, plainSums lanes of some length.
type plainMeans struct{ *ops.Window }

func (plainMeans) Run(*run.Call) {}

func (r plainMeans) Span(c *run.Call, lo, hi, _ int) {
	for i := lo * r.Out[2]; i < hi*r.Out[2]; i++ {
		sum, n, one := 0.0, 0, r.Out[1]*r.Out[2]
		each(r.Window, i/one, i%one, func(k, at int) {
			if at >= 0 {
				sum += c.In[0].Value(at)
			}
			y, x := i%one/r.Out[2]*r.Strides[1]+k/r.Kernel[2], i%r.Out[2]*r.Strides[2]+k%r.Kernel[2]
			if at >= 0 || !r.ExcludePadding && y < r.In[1]+r.Before[1]+r.After[1] && x < r.In[2]+r.Before[2]+r.After[2] {
				n++
			}
		})
		c.Out[0].Half[i] = narrow(sum / float64(n))
	}
}

type plainSums int

func (plainSums) Run(*run.Call) {}

func (r plainSums) Span(c *run.Call, lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		sum := 0.0
		for k := range int(r) {
			sum += c.In[0].Value(i*int(r) + k)
		}
		c.Out[0].Half[i] = narrow(sum / float64(r))
	}
}

// narrow is a number rounded to a half. A NaN has a mark of its own, which tells that Go made it.
func narrow(f float64) fp16.Bits {
	if f != f {
		return 0x7d55
	}
	return fp16.FromFloat64(f)
}

// TestWindows compares the runners of windows with their definitions, to the bit: narrow and wide planes, strips, both
// strides, infinities, zeros with signs and NaNs, and beside inaccessible pages.
func TestWindows(t *testing.T) {
	if !quick() {
		t.Skip("no kernels for this machine")
	}
	r := rand.New(rand.NewPCG(3, 5))
	for n := range effort.Cases(120) {
		w := ops.Window{Groups: 1 + r.IntN(3), ExcludePadding: r.IntN(2) == 0, Kernel: []int{1}, Strides: []int{1},
			Dilations: []int{1}, Before: []int{0}, After: []int{0}, In: []int{1}, Out: []int{1}}
		for axis := range 2 {
			in, k, d, s := 1+r.IntN(40), 1+r.IntN(5), 1+r.IntN(8)/6, 1+r.IntN(2)
			if n%10 == 9 {
				in = 50 + r.IntN(120) // several strips
			}
			if n%10 == 8 {
				in = 1 + r.IntN(9)
			}
			if axis == 0 {
				s = 1 + r.IntN(3)
				if n%4 == 1 {
					in = 1 + r.IntN(3)
				}
			}
			if n%5 == 2 { // windows of which the kernel has code of their own
				k, d, s = 3+n/5%2*2, 1, 1+n/10%2
			}
			before, after := r.IntN(k), r.IntN(k)
			if in+before+after < d*(k-1)+1 {
				before += d * k
			}
			w.In, w.Kernel, w.Dilations, w.Strides = append(w.In, in), append(w.Kernel, k), append(w.Dilations, d),
				append(w.Strides, s)
			w.Before, w.After = append(w.Before, before), append(w.After, after)
			w.Out = append(w.Out, (in+before+after-d*(k-1)-1)/s+1)
		}
		if n%10 == 8 { // many small planes, and a few long lines
			w.Groups = 70
		}
		about, planes, size := fmt.Sprintf("%+v", w), w.Groups*(1+r.IntN(2)), w.Out[1]*w.Out[2]
		x := tensor(t, r, planes*w.In[1]*w.In[2], n%3 == 0)

		outputs, taps := 1+r.IntN(2), w.Kernel[1]*w.Kernel[2]
		weights, bias := tensor(t, r, w.Groups*outputs*taps, false), tensor(t, r, w.Groups*outputs, true)
		var decoded []float32
		if n%2 == 0 {
			decoded = make([]float32, w.Groups*outputs*taps)
			weights.Load(decoded, 0)
		}
		want := make([]fp16.Bits, planes*outputs*size)
		for i := range want {
			plane, m := i/size/outputs, i/size/outputs%w.Groups*outputs+i/size%outputs
			var sum float32
			each(&w, plane, i%size, func(k, at int) {
				f := float32(0)
				if at >= 0 {
					f = float32(x.Value(at))
				}
				sum += float32(f * float32(weights.Value(m*taps+k)))
			})
			if n%3 > 0 {
				sum += float32(bias.Value(m))
			}
			want[i] = fp16.FromFloat64(float64(sum))
		}
		dw, work := Depthwise(w, planes, outputs, decoded, n%3 > 0)
		same(t, want, made(t, dw, work, planes*dw.(*depthwise).strips, len(want), x, weights, bias), "conv "+about)

		w.Dilations = []int{1, 1, 1}
		if max(w.Before[1], w.After[1]) >= w.Kernel[1] || max(w.Before[2], w.After[2]) >= w.Kernel[2] {
			continue // no pool has windows of padding alone
		}
		want = want[:planes*size]
		(plainMaxima{&w}).Span(&run.Call{In: []run.Vec{x}, Out: []run.Vec{{Half: want}}}, 0, planes*w.Out[1], 0)
		m, work := Maxima(w, planes, plainMaxima{&w}, 0)
		same(t, want, made(t, m, work, planes*m.(*maxima).strips, len(want), x), "max_pool "+about)

		(plainMeans{&w}).Span(&run.Call{In: []run.Vec{x}, Out: []run.Vec{{Half: want}}}, 0, planes*w.Out[1], 0)
		a, work := Means(w, planes, plainMeans{&w}, 0)
		same(t, want, made(t, a, work, planes*a.(*means).strips, len(want), x), "avg_pool "+about)
	}
}

// TestLinesThatNoWindowReads: small planes are computed many at a time, also where lines follow the last window.
func TestLinesThatNoWindowReads(t *testing.T) {
	if !quick() {
		t.Skip("no kernels for this machine")
	}
	r := rand.New(rand.NewPCG(13, 17))
	for _, size := range []int{2, 6, 7, 14, 15} {
		for stride := 1; stride <= 4; stride++ {
			w := ops.Window{Groups: 40, Kernel: []int{1, 1, 1}, Strides: []int{1, stride, 1 + stride%2},
				Dilations: []int{1, 1, 1}, Before: []int{0, 0, 0}, After: []int{0, 0, 0}, In: []int{1, size, size},
				Out: []int{1, (size-1)/stride + 1, (size-1)/(1+stride%2) + 1}}
			x, one := tensor(t, r, w.Groups*size*size, false), ops.Volume(w.Out)
			weights := make([]float32, w.Groups)
			want := make([]fp16.Bits, w.Groups*one)
			for i := range weights {
				weights[i] = float32(i + 1)
			}
			for i := range want {
				var sum float32
				each(&w, i/one, i%one, func(_, at int) { sum += float32(float32(x.Value(at)) * weights[i/one]) })
				want[i] = fp16.FromFloat32(sum)
			}
			dw, work := Depthwise(w, w.Groups, 1, weights, false)
			same(t, want, made(t, dw, work, w.Groups*dw.(*depthwise).strips, len(want), x), fmt.Sprintf("%+v", w))
		}
	}
}

// TestSums compares the sums of lanes with their definition, to the bit: without gaps, and of rows on a surface.
func TestSums(t *testing.T) {
	if !quick() {
		t.Skip("no kernels for this machine")
	}
	r := rand.New(rand.NewPCG(7, 9))
	for n := range effort.Cases(300) {
		l := Lanes{Count: 1 + r.IntN(300), Width: 1 + r.IntN(40)}
		l.Length, l.Pitch = l.Width*(1+r.IntN(9)), (l.Width+31)/32*32
		if n%2 == 0 {
			l.Width, l.Pitch = l.Length, l.Length
		}
		in := []run.Vec{tensor(t, r, l.Count*l.Length, n%4 < 2)}
		if l.Pitch > l.Width {
			in = append(in, tensor(t, r, l.Count*l.Length/l.Width*l.Pitch, true))
			for i, h := range in[0].Half {
				in[1].Half[i/l.Width*l.Pitch+i%l.Width] = h
			}
		}
		want := make([]fp16.Bits, l.Count)
		plainSums(l.Length).Span(&run.Call{In: in, Out: []run.Vec{{Half: want}}}, 0, l.Count, 0)
		if len(in) > 1 {
			clear(in[0].Half) // Sums copies what it needs there
		}
		mean := func(sum float64, n int) float64 { return sum / float64(n) }
		for _, f := range []Fold{{Result: mean}, {Divisor: float64(l.Length)}} {
			s, work := Sums(l, f, plainSums(l.Length), 0)
			same(t, want, made(t, s, work, l.Count, l.Count, in...), fmt.Sprintf("%+v %v", l, f.Divisor))
		}
	}
}

// TestLines: the kernels of lines have the results of Go.
func TestLines(t *testing.T) {
	if !quick() {
		t.Skip("no kernels for this machine")
	}
	r := rand.New(rand.NewPCG(11, 13))
	for n := eight; n < 60; n++ {
		x, y, got := tensor(t, r, n, true), tensor(t, r, n, true), tensor(t, r, n, false)
		a, b, want := make([]float64, n), make([]float64, n), make([]fp16.Bits, n)
		for _, part := range []float64{0, .25, r.Float64(), math.Exp2(-52)} {
			for i := range want {
				a[i], b[i] = x.Value(i), y.Value(i)
				if part == 0 {
					b[i] = a[i]
				}
				want[i] = fp16.FromFloat64(blend(part, a[i], b[i]))
			}
			mixHalves(got.Pairs, a, b, part)
			same(t, want, got.Half, fmt.Sprint(n, " numbers, part ", part))
		}
		for _, width := range []int{1, 2, 7, 16, 33} {
			dst := tensor(t, r, n*width/2+20, false)
			some := Repeat(dst.Half, x.Half, width)
			require.Equal(t, min((len(dst.Half)-15)/width, n), some)
			for i := range some * width {
				require.Equal(t, x.Half[i/width], dst.Half[i])
			}
		}
	}
}

// BenchmarkDepthwise is of windows of MobileNet and EfficientNet. The floor is the multiply-adds of whole vectors, two at
// a time: 14 and 99 us on a Zen 3 at 3.4 GHz. There whole evaluations with a bias and limits take 69 and 240 us, and those
// of ONNX Runtime 1.30 71 and 271.
func BenchmarkDepthwise(b *testing.B) {
	if !quick() {
		b.Skip("no kernels for this machine")
	}
	for _, l := range [][3]int{{384, 14, 3}, {240, 28, 5}} {
		n, size, k := l[0], l[1], l[2]
		b.Run(fmt.Sprintf("%dx%d, %d of %d", k, k, n, size), func(b *testing.B) {
			w := ops.Window{Groups: n, Kernel: []int{1, k, k}, Strides: []int{1, 1, 1}, Dilations: []int{1, 1, 1},
				Before: []int{0, k / 2, k / 2}, After: []int{0, k / 2, k / 2}, In: []int{1, size, size}, Out: []int{1, size, size}}
			x, err := run.View(mil.FP16, make([]byte, 2*n*size*size))
			require.NoError(b, err)
			y, err := run.View(mil.FP16, make([]byte, 2*n*size*size))
			require.NoError(b, err)
			r, work := Depthwise(w, n, 1, make([]float32, n*k*k), false)
			c := &run.Call{Run: r, In: []run.Vec{x, x}, Out: []run.Vec{y}}
			require.NoError(b, c.AddRoom(make([]byte, 4*work)))
			c.Begin(b.Context(), 0, 1)
			b.ReportAllocs()
			for b.Loop() {
				r.Run(c)
			}
		})
	}
}

// BenchmarkSums is of means over 512 planes of 7x7, in rows of 64 bytes and without gaps. The floor is a bare copy of
// the rows, 3.6 us on a Zen 3 at 3.4 GHz. There a whole evaluation takes 7.3 us, and ONNX Runtime's 5.8.
func BenchmarkSums(b *testing.B) {
	if !quick() {
		b.Skip("no kernels for this machine")
	}
	for _, l := range []Lanes{{512, 49, 7, 32}, {512, 49, 49, 49}} {
		b.Run(fmt.Sprint(l.Pitch), func(b *testing.B) {
			x, err := run.View(mil.FP16, make([]byte, 2*512*7*32))
			require.NoError(b, err)
			r, work := Sums(l, Fold{Divisor: 49}, nil, 0)
			c := &run.Call{Run: r, In: []run.Vec{x, x}, Out: []run.Vec{x}}
			c.Out[0].Pairs = make([]uint16, l.Count)
			require.NoError(b, c.AddRoom(make([]byte, 4*work)))
			c.Begin(b.Context(), 0, 1)
			b.ReportAllocs()
			for b.Loop() {
				r.Run(c)
			}
		})
	}
}
