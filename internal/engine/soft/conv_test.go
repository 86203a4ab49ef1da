package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// sliding holds random settings, one number for each spatial axis.
type sliding struct {
	kernel, stride, dilation, before, after []int
	in, out                                 []int
	padType                                 string
	ceil                                    bool
}

// randomSliding draws settings that leave at least one output. dilate allows
// dilations; pool allows ceil_mode and keeps padding below the kernel size.
func randomSliding(r *rand.Rand, in []int, dilate, pool bool) sliding {
	for {
		n := len(in)
		s := sliding{in: in, padType: []string{"valid", "same", "same_lower", "custom", ""}[r.IntN(5)], ceil: pool &&
			r.IntN(2) == 0,
			before: make([]int, n), after: make([]int, n), dilation: slices.Repeat([]int{1}, n)}
		good := true
		for i, length := range in {
			k, st, d := 1+r.IntN(4), 1+r.IntN(3), 1
			if dilate {
				d = 1 + r.IntN(3)
			}
			s.kernel, s.stride, s.dilation[i] = append(s.kernel, k), append(s.stride, st), d
			reach := (k-1)*d + 1
			switch s.padType {
			case "same", "same_lower":
				// The result has length/stride outputs, rounded up: find the padding
				// that gives this count.
				want := int(math.Ceil(float64(length) / float64(st)))
				total := 0
				for (want-1)*st+reach > length+total {
					total++
				}
				s.before[i], s.after[i] = total/2, total-total/2
				if s.padType == "same_lower" {
					s.before[i], s.after[i] = s.after[i], s.before[i]
				}
			case "custom":
				s.before[i], s.after[i] = r.IntN(4), r.IntN(4)
				if pool {
					s.before[i], s.after[i] = s.before[i]%k, s.after[i]%k
				}
			}
			// Count the windows one by one.
			count := 0
			for at := 0; at+reach <= length+s.before[i]+s.after[i]; at += st {
				count++
			}
			if last := count * st; s.ceil && (count-1)*st+reach < length+s.before[i]+s.after[i] &&
				last < length+s.before[i] {
				count++ // a window that starts inside and ends outside
			}
			good = good && count > 0 && length+s.before[i]+s.after[i] >= reach
			s.out = append(s.out, count)
		}
		if good {
			return s
		}
	}
}

func (s sliding) settings(pool bool) string {
	text := ", strides = " + intVec(s.stride...)
	if pool {
		text += ", kernel_sizes = " + intVec(s.kernel...)
		if s.ceil {
			text += ", ceil_mode = bool(true)"
		}
	} else {
		text += ", dilations = " + intVec(s.dilation...)
	}
	if s.padType != "" {
		text += fmt.Sprintf(", pad_type = string(%q)", s.padType)
	}
	var pad []int
	for i := range s.before {
		if s.padType == "custom" {
			pad = append(pad, s.before[i], s.after[i])
		} else {
			pad = append(pad, 1, 2) // only pad_type custom uses it
		}
	}
	return text + ", pad = " + intVec(pad...)
}

// spatial returns shapes [N, C, *D] with one to three spatial axes.
func spatial(r *rand.Rand, channels int) []int {
	for {
		shape := append([]int{1 + r.IntN(3), channels}, randomShape(r, 1, 3)...)
		if volume(shape) <= 4000 {
			return shape
		}
	}
}

func TestConv(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		t.Run(d.String(), func(t *testing.T) {
			r := seeded(t)
			for k := range effort.Cases(80) {
				groups := 1 + r.IntN(3)
				ci, co := groups*(1+r.IntN(3)), groups*(1+r.IntN(3))
				x := fill(r, d, spatial(r, ci)...)
				s := randomSliding(r, x.shape[2:], true, false)
				w, b := fill(r, d, append([]int{co, ci / groups}, s.kernel...)...), fill(r, d, co)
				sum := convRef(x, w, b, s, groups, k%3 == 0)
				o := operation{op: "conv", in: []operand{{"x", x, k%9 == 0}, {"weight", w, k%4 != 0}},
					want:     []nd{sum.want},
					settings: s.settings(false) + fmt.Sprintf(", groups = int32(%d)", groups)}
				if k%3 == 0 {
					o.in = append(o.in, operand{"bias", b, k%2 == 0})
				}
				o.near(t, sum.bound)
			}
		})
	}
}

// convRef adds every product of every window. Elements outside x are 0.
func convRef(x, w, b nd, s sliding, groups int, bias bool) sums {
	ci, co := w.shape[1], w.shape[0]
	r := sums{want: zeros(x.d, append([]int{x.shape[0], co}, s.out...)...), terms: ci*volume(s.kernel) + 1}
	r.mass = make([]float64, len(r.want.v))
	each(r.want.shape, func(i []int) {
		at := r.want.index(i)
		first := i[1] / (co / groups) * ci // input channel of the group
		each(append([]int{ci}, s.kernel...), func(k []int) {
			from := []int{i[0], first + k[0]}
			for a := range s.kernel {
				p := i[2+a]*s.stride[a] + k[1+a]*s.dilation[a] - s.before[a]
				if p < 0 || p >= s.in[a] {
					return
				}
				from = append(from, p)
			}
			p := x.at(from...) * w.at(append([]int{i[1]}, k...)...)
			r.want.v[at] += p
			r.mass[at] += math.Abs(p)
		})
		if bias {
			r.want.v[at] += b.v[i[1]]
			r.mass[at] += math.Abs(b.v[i[1]])
		}
	})
	return r
}

// TestConvDefaults omits every setting and crosses tile borders.
func TestConvDefaults(t *testing.T) {
	r := seeded(t)
	for _, c := range []struct{ x, w []int }{
		{[]int{1, 3, 40, 41}, []int{35, 3, 3, 3}},
		{[]int{2, 70, 1, 32}, []int{33, 70, 1, 1}},
		{[]int{1, 5, 600}, []int{2, 5, 7}},
		{[]int{1, 1, 1, 1}, []int{1, 1, 1, 1}},
	} {
		x, w := fill(r, mil.FP16, c.x...), fill(r, mil.FP16, c.w...)
		s := sliding{in: c.x[2:], kernel: c.w[2:]}
		for i := range s.in {
			s.stride, s.dilation, s.before = append(s.stride, 1), append(s.dilation, 1), append(s.before, 0)
			s.out = append(s.out, s.in[i]-s.kernel[i]+1)
		}
		sum := convRef(x, w, nd{}, s, 1, false)
		o := operation{op: "conv", in: []operand{{"x", x, false}, {"weight", w, len(w.v) < 200}}, want: []nd{sum.want}}
		o.near(t, sum.bound)
	}
}

// transposedCase adds every element of x, times the kernel, to the result at stride
// times its position.
func transposedCase(r *rand.Rand, d mil.DType, in []int, groups int, padType string, given, bias bool) (operation,
	sums) {
	for {
		n, ci, co := len(in), groups*(1+r.IntN(3)), 1+r.IntN(3)
		var kernel, stride, dilation, out, before, pad []int
		good := true
		for _, length := range in {
			k, s, d := 1+r.IntN(4), 1+r.IntN(3), 1+r.IntN(3)
			full := (length-1)*s + (k-1)*d + 1
			o, b, a := full, 0, 0
			switch padType {
			case "custom":
				b, a = r.IntN(3), r.IntN(3)
				if o -= b + a; given {
					o += r.IntN(s) // positions that no window of the convolution begins at
				}
			case "same", "same_lower":
				if o = length * s; given {
					o -= r.IntN(s) // as many windows
				}
				crop := max(full-o, 0)
				if b = crop / 2; padType == "same_lower" {
					b = crop - crop/2
				}
			default:
				if given {
					o += r.IntN(s)
				}
			}
			good = good && o > 0
			kernel, stride, dilation, out = append(kernel, k), append(stride, s), append(dilation, d), append(out, o)
			before, pad = append(before, b), append(pad, b, a)
		}
		x := fill(r, d, append([]int{1 + r.IntN(2), ci}, in...)...)
		if !good || volume(out) > 20000 {
			in = randomShape(r, n, n)
			continue
		}
		want := zeros(d, append([]int{x.shape[0], co * groups}, out...)...)
		w, b := fill(r, d, append([]int{ci, co}, kernel...)...), fill(r, d, co*groups)
		s := sums{want: want, terms: ci*volume(kernel) + 1, mass: make([]float64, len(want.v))}
		each(x.shape, func(i []int) {
			g := i[1] / (ci / groups)
			each(append([]int{co}, kernel...), func(k []int) {
				to := []int{i[0], g*co + k[0]}
				for a := range kernel {
					p := i[2+a]*stride[a] + k[1+a]*dilation[a] - before[a]
					if p < 0 || p >= out[a] {
						return
					}
					to = append(to, p)
				}
				p := x.at(i...) * w.at(append([]int{i[1]}, k...)...)
				want.v[want.index(to)] += p
				s.mass[want.index(to)] += math.Abs(p)
			})
		})
		o := operation{op: "conv_transpose", in: []operand{{"x", x, false}, {"weight", w, r.IntN(2) == 0}},
			want: []nd{want},
			settings: fmt.Sprintf(", strides = %s, dilations = %s, groups = int32(%d)", intVec(stride...),
				intVec(dilation...), groups)}
		if padType != "" {
			o.settings += fmt.Sprintf(", pad_type = string(%q)", padType)
		}
		if padType == "custom" {
			o.settings += ", pad = " + intVec(pad...)
		}
		if given {
			o.settings += ", output_shape = " + intVec(want.shape...)
		}
		if bias {
			o.in = append(o.in, operand{"bias", b, r.IntN(2) == 0})
			each(want.shape, func(i []int) {
				want.v[want.index(i)] += b.v[i[1]]
				s.mass[want.index(i)] += math.Abs(b.v[i[1]])
			})
		}
		return o, s
	}
}

func TestConvTranspose(t *testing.T) {
	effort.SkipShort(t)
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		t.Run(d.String(), func(t *testing.T) {
			r := seeded(t)
			for k := range effort.Cases(120) {
				in := randomShape(r, 1+k%3, 1+k%3)
				for volume(in) > 700 {
					in = randomShape(r, 1+k%3, 1+k%3)
				}
				padType := []string{"", "valid", "custom", "same", "same_lower"}[r.IntN(5)]
				o, s := transposedCase(r, d, in, 1+r.IntN(3), padType, k%4 == 0, k%3 == 0)
				o.near(t, s.bound)
			}
		})
	}
}

// TestConvTransposeOfPhases: constant weights, by which the positions of the result that are a stride apart are a
// convolution each, give the bits of those that are operands, also where infinite ones meet the zeros between elements.
func TestConvTransposeOfPhases(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(60) {
		o, _ := transposedCase(r, mil.FP16, []int{1 + r.IntN(9), 1 + r.IntN(30)}, 1+r.IntN(2),
			[]string{"", "custom", "same"}[k%3], k%4 == 0, k%2 == 0)
		weights := &o.in[1]
		for i := range weights.value.v {
			weights.value.v[i] = load(mil.FP16, store(mil.FP16, r.NormFloat64()))
		}
		if k%10 == 9 {
			weights.value.v[r.IntN(len(weights.value.v))] = math.Inf(1)
		}
		weights.fixed = true
		got := o.run(t)[0]
		weights.fixed = false
		want := o.run(t)[0]
		for i := 0; i < len(want); i += 2 {
			g, w := got[i:i+2], want[i:i+2]
			if string(g) != string(w) && !(isNaN(mil.FP16, g) && isNaN(mil.FP16, w)) {
				t.Fatalf("element %d is %x, not %x\n%s", i/2, g, w, clip(o.text()))
			}
		}
	}
}

// Without settings strides, dilations and groups are 1 and there is no padding.
func TestConvTransposeDefaults(t *testing.T) {
	x := nd{mil.FP16, []int{1, 1, 3}, []float64{1, 2, 3}}
	w := nd{mil.FP16, []int{1, 1, 2}, []float64{10, 1}}
	operation{op: "conv_transpose", in: []operand{{"x", x, false}, {"weight", w, true}},
		want: []nd{{mil.FP16, []int{1, 1, 4}, []float64{10, 21, 32, 3}}}}.exact(t)
}

// TestConvTransposeOfManyOutputs: each output channel has its own weight, also where there are several tiles of them.
func TestConvTransposeOfManyOutputs(t *testing.T) {
	const outputs = 150
	x := nd{mil.FP16, []int{1, 1, 3}, []float64{1, 2, 3}}
	w, want := zeros(mil.FP16, 1, outputs, 2), zeros(mil.FP16, 1, outputs, 4)
	for o := range outputs {
		a, b := float64(o), float64(o%7)
		w.set(a, 0, o, 0)
		w.set(b, 0, o, 1)
		for i, f := range []float64{a, 2*a + b, 3*a + 2*b, 3 * b} {
			want.set(f, 0, o, i)
		}
	}
	operation{op: "conv_transpose", in: []operand{{"x", x, false}, {"weight", w, true}}, want: []nd{want}}.exact(t)
}
