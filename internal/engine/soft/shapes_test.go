package soft_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
)

// Convolutions over three axes with strides and padding along each, and some whose result has the shape of x: also
// with lines that a tile of positions begins and ends within.
func TestConvOfVolumes(t *testing.T) {
	effort.SkipShort(t)
	r := seeded(t)
	for _, c := range []struct {
		in, kernel, stride, dilation, before, after []int
		outputs                                     int
	}{
		{[]int{5, 4, 6}, []int{2, 2, 3}, []int{2, 1, 2}, []int{1, 2, 1}, []int{1, 0, 1}, []int{2, 1, 0}, 3},
		{[]int{4, 3, 5}, []int{3, 3, 3}, []int{1, 1, 1}, []int{1, 1, 1}, []int{1, 1, 1}, []int{1, 1, 1}, 2},
		{[]int{4, 3, 5}, []int{1, 3, 3}, []int{1, 1, 1}, []int{1, 1, 1}, []int{0, 1, 1}, []int{0, 1, 1}, 2},
		{[]int{3, 4, 5}, []int{3, 2, 2}, []int{1, 1, 1}, []int{1, 1, 1}, []int{0, 0, 0}, []int{0, 0, 0}, 2},
		{[]int{6, 5, 4}, []int{3, 1, 1}, []int{3, 2, 1}, []int{1, 1, 1}, []int{2, 0, 0}, []int{2, 0, 0}, 2},
		{[]int{1, 13, 47}, []int{1, 3, 3}, []int{1, 1, 1}, []int{1, 1, 1}, []int{0, 1, 1}, []int{0, 1, 1}, 2},
		{[]int{1, 11, 53}, []int{1, 1, 5}, []int{1, 1, 1}, []int{1, 1, 2}, []int{0, 0, 4}, []int{0, 0, 4}, 2},
		{[]int{1, 40, 17}, []int{1, 5, 1}, []int{1, 1, 1}, []int{1, 3, 1}, []int{0, 6, 0}, []int{0, 6, 0}, 2},
		{[]int{1, 3, 2}, []int{1, 1, 7}, []int{1, 1, 1}, []int{1, 1, 1}, []int{0, 0, 3}, []int{0, 0, 3}, 1},
	} {
		s := sliding{in: c.in, kernel: c.kernel, stride: c.stride, dilation: c.dilation, before: c.before,
			after:   c.after,
			padType: "custom"}
		for i, n := range c.in {
			s.out = append(s.out, (n+c.before[i]+c.after[i]-(c.kernel[i]-1)*c.dilation[i]-1)/c.stride[i]+1)
		}
		x := fill(r, mil.FP16, append([]int{1, 2}, c.in...)...)
		for groups := 1; groups <= 2; groups++ {
			w := fill(r, mil.FP16, append([]int{groups * c.outputs, 2 / groups}, c.kernel...)...)
			b := fill(r, mil.FP16, groups*c.outputs)
			sum := convRef(x, w, b, s, groups, true)
			operation{op: "conv", in: []operand{{"x", x, false}, {"weight", w, false}, {"bias", b, false}},
				want:     []nd{sum.want},
				settings: s.settings(false) + fmt.Sprintf(", groups = int32(%d)", groups)}.near(t, sum.bound)
		}
	}
}

// Groups of few channels, in several strips of lines, and steps fused with them, on several goroutines.
func TestStripsOfGroups(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	r := seeded(t)
	const images, groups, each, outputs, high, wide = 2, 2, 2, 2, 70, 130
	for _, c := range []struct{ kernel, stride, dilation [2]int }{
		{[2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}}, {[2]int{2, 4}, [2]int{2, 2}, [2]int{2, 1}},
		{[2]int{3, 1}, [2]int{1, 1}, [2]int{3, 1}}, {[2]int{1, 2}, [2]int{1, 3}, [2]int{1, 2}},
		{[2]int{2, 3}, [2]int{1, 1}, [2]int{1, 2}},
	} {
		oh, ow := (high+2-(c.kernel[0]-1)*c.dilation[0]-1)/c.stride[0]+1,
			(wide+2-(c.kernel[1]-1)*c.dilation[1]-1)/c.stride[1]+1
		area := c.kernel[0] * c.kernel[1]
		x, w := fill(r, mil.FP16, images, groups*each, high, wide), fill(r, mil.FP16, groups*outputs, each, c.kernel[0],
			c.kernel[1])
		b, want := fill(r, mil.FP16, groups*outputs), zeros(mil.FP16, images, groups*outputs, oh, ow)
		for i := range want.v {
			ox, oy, m := i%ow, i/ow%oh, i/ow/oh%(groups*outputs)
			plane := (i/ow/oh/(groups*outputs)*groups + m/outputs) * each
			var sum float32
			for k, f := range w.v[m*each*area:][:each*area] {
				row := oy*c.stride[0] + k/c.kernel[1]%c.kernel[0]*c.dilation[0] - 1
				col := ox*c.stride[1] + k%c.kernel[1]*c.dilation[1] - 1
				if row >= 0 && row < high && col >= 0 && col < wide {
					sum += float32(f * x.v[((plane+k/area)*high+row)*wide+col])
				}
			}
			want.v[i] = max(0, load(mil.FP16, store(mil.FP16, float64(sum+float32(b.v[m])))))
		}
		out := tensorType(mil.FP16, want.shape)
		got := evaluate(t, fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%s x, %s w, %s b) {\n%s a = conv(x = x, "+
			"weight = w, bias = b, groups = int32(%d), strides = %s, dilations = %s, pad_type = string(\"custom\"), "+
			"pad = %s);\n%s y = relu(x = a);\n} -> (y);\n}\n", tensorType(mil.FP16, x.shape), tensorType(mil.FP16,
			w.shape),
			tensorType(mil.FP16, b.shape), out, groups, intVec(c.stride[:]...), intVec(c.dilation[:]...),
			intVec(1, 1, 1, 1), out), map[string][]byte{"x": encode(x), "w": encode(w), "b": encode(b)})
		for i, f := range want.v {
			if g := load(mil.FP16, got["y"][2*i:]); g != f {
				t.Fatalf("%+v: element %d is %v, not %v", c, i, g, f)
			}
		}
	}
}

// Runs of indices that are longer than what a goroutine takes at a time, and that it begins within.
func TestLongRunsOfIndices(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	r := seeded(t)
	const n = 17000
	at := zeros(mil.Int32, 2, n)
	for i := range at.v {
		at.v[i] = float64(r.IntN(10) - 5)
	}
	place := func(i int) int { return (int(at.v[i]) + 5) % 5 }
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int8} {
		x, rows := fill(r, d, 2, 3, 5), fill(r, d, 2, 5, n)
		batched, along, last := zeros(d, 2, 3, n), zeros(d, 2, 1, n), zeros(d, 2, n)
		for i := range batched.v {
			batched.v[i] = x.v[i/n*5+place(i/n/3*n+i%n)]
		}
		for i := range along.v {
			along.v[i] = rows.v[i/n*5*n+place(i)*n+i%n]
			last.v[i] = x.v[i/n*5+place(i)]
		}
		operation{op: "gather", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{batched},
			settings: ", axis = int32(2), batch_dims = int32(1)"}.exact(t)
		operation{op: "gather_along_axis", in: []operand{{"x", rows, false}, {"indices", nd{mil.Int32, []int{2, 1, n},
			at.v}, false}}, want: []nd{along}, settings: ", axis = int32(1)"}.exact(t)
		operation{op: "gather_along_axis", in: []operand{{"x", nd{d, []int{2, 5}, x.v[:10]}, false}, {"indices", at,
			false}}, want: []nd{last}, settings: ", axis = int32(1)"}.exact(t)
	}
	data, updates := fill(r, mil.FP16, 2, 3, 2500), fill(r, mil.FP16, 2, 4, 2500)
	want := nd{mil.FP16, data.shape, slices.Clone(data.v)}
	for i, f := range updates.v {
		to := &want.v[(i/10000*3+[]int{2, 0, 1, 2}[i/2500%4])*2500+i%2500]
		*to = load(mil.FP16, store(mil.FP16, *to+f))
	}
	operation{op: "scatter", in: []operand{{"data", data, false}, {"indices", nd{mil.Int32, []int{4},
		[]float64{2, 0, 1, -1}}, false}, {"updates", updates, false}}, want: []nd{want},
		settings: `, axis = int32(1), mode = string("add")`}.exact(t)
}

// Lines of many windows, which pools compute in several parts.
func TestPoolOfLongLines(t *testing.T) {
	effort.SkipShort(t)
	r := seeded(t)
	for _, op := range []string{"max_pool", "avg_pool", "l2_pool"} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			for stride := 1; stride <= 3; stride++ {
				s := sliding{in: []int{3, 200 * stride}, kernel: []int{2, 4}, stride: []int{1, stride},
					dilation: []int{1, 1}, before: []int{0, 3}, after: []int{1, 2}, padType: "custom"}
				s.out = []int{3, (200*stride+5-4)/stride + 1}
				x := fill(r, d, append([]int{1, 2}, s.in...)...)
				o, sum := poolCase(op, x, s, false)
				if op == "max_pool" {
					o.exact(t)
				} else {
					o.near(t, sum.bound)
				}
			}
		}
	}
}

// Each axis of each operand is whole or repeated.
func TestEveryBroadcast(t *testing.T) {
	effort.SkipShort(t)
	r := seeded(t)
	full := []int{2, 3, 2, 5}
	part := func(mask int) []int {
		shape := slices.Clone(full)
		for i := range shape {
			if mask>>i&1 != 0 {
				shape[i] = 1
			}
		}
		return shape
	}
	for mask := range 256 {
		if mask%5 != 0 && !effort.Full() {
			continue
		}
		a, b := mask>>4, mask&15
		if a&b != 0 {
			continue // the result would be smaller
		}
		for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
			x, y := fill(r, d, part(a)...), fill(r, d, part(b)...)
			sum, truth := zeros(d, full...), zeros(mil.Bool, full...)
			each(full, func(i []int) {
				f := x.broadcastAt(i) - y.broadcastAt(i)
				if d == mil.Int32 {
					f = float64(int32(int64(f)))
				}
				sum.set(load(d, store(d, f)), i...)
				if x.broadcastAt(i) > y.broadcastAt(i) {
					truth.set(1, i...)
				}
			})
			in := []operand{{"x", x, false}, {"y", y, false}}
			operation{op: "sub", in: in, want: []nd{sum}}.exact(t)
			operation{op: "greater", in: in, want: []nd{truth}}.exact(t)
		}
	}
}

// A sum goes through lanes in parts of 1024 elements, from either end.
func TestCumsumOfLongLanes(t *testing.T) {
	effort.SkipShort(t)
	r := seeded(t)
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
		for _, reverse := range []bool{false, true} {
			x, want := fill(r, d, 2, 2600), zeros(d, 2, 2600)
			for i := range x.v {
				x.v[i] = float64(r.IntN(9) - 4)
			}
			for row := range 2 {
				sum := 0.0
				for j := range 2600 {
					if reverse {
						j = 2599 - j
					}
					sum += x.at(row, j)
					want.set(sum, row, j)
				}
			}
			operation{op: "cumsum", in: []operand{{"x", x, false}}, want: []nd{want},
				settings: fmt.Sprintf(", axis = int32(1), reverse = bool(%t)", reverse)}.exact(t)
		}
	}
}

// A path of N through two axes that are apart in y, and more columns than a tile has.
func TestEinsumOfSplitColumns(t *testing.T) {
	effort.SkipShort(t)
	r := seeded(t)
	for _, equation := range []string{"ik,jkl->ijl", "ik,jkl->jil", "ik,klj->ijl"} {
		y := []int{3, 4, 190}
		if equation == "ik,klj->ijl" {
			y = []int{4, 190, 3}
		}
		o, s := einsumCase(equation, fill(r, mil.FP16, 35, 4), fill(r, mil.FP16, y...))
		o.near(t, s.bound)
	}
}

// Vectors times matrices of halves: several matrices, more sums than a piece has, lengths of whole and broken pieces,
// and a bias.
func TestVectorsOfHalves(t *testing.T) {
	r := seeded(t)
	for _, c := range []struct {
		batch   []int
		m, k, n int
	}{{[]int{3}, 1, 64, 100}, {[]int{2}, 3, 9, 1100}, {nil, 1, 32, 2100}, {[]int{2}, 16, 40, 110},
		{[]int{2}, 70, 65, 1}} {
		for range 3 { // transposed or not
			o, s := matmulCase(r, mil.FP16, c.batch, c.batch, c.batch, c.m, c.k, c.n)
			o.in[0].fixed, o.in[1].fixed = false, false
			o.near(t, s.bound)
		}
	}
	for _, n := range []int{32, 33, 75, 128} {
		x, w, b := fill(r, mil.FP16, 1, 130), fill(r, mil.FP16, n, 130), fill(r, mil.FP16, n)
		s := sums{want: zeros(mil.FP16, 1, n), mass: make([]float64, n), terms: 131}
		for i := range n {
			s.want.v[i], s.mass[i] = b.v[i], math.Abs(b.v[i])
			for k, f := range x.v {
				s.want.v[i], s.mass[i] = s.want.v[i]+f*w.at(i, k), s.mass[i]+math.Abs(f*w.at(i, k))
			}
		}
		operation{op: "linear", in: []operand{{"x", x, false}, {"weight", w, false}, {"bias", b, false}},
			want: []nd{s.want}}.near(t, s.bound)
	}
}

// Resizing of three axes, of lines beyond 65536, and of one element from a second line.
func TestResizeOfVolumes(t *testing.T) {
	r := seeded(t)
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		for _, mode := range samplingModes {
			x, size := fill(r, d, 2, 3, 2, 4), []int{5, 5, 7}
			for _, nearest := range []bool{false, true} {
				o := operation{op: "resize", in: []operand{{"x", x, false}}, want: []nd{resizeCase(x, size, mode,
					nearest)},
					settings: resizeSettings(size, mode, nearest)}
				o.near(t, blended(o))
			}
		}
		x, size := fill(r, d, 2, 3), []int{2, 1<<16 + 3}
		operation{op: "resize", in: []operand{{"x", x, false}}, want: []nd{resizeCase(x, size, "DEFAULT", true)},
			settings: resizeSettings(size, "DEFAULT", true)}.exact(t)
		column := fill(r, d, 3, 1)
		operation{op: "resize", in: []operand{{"x", column, false}}, want: []nd{{d, []int{1, 1}, column.v[1:2]}},
			settings: resizeSettings([]int{1, 1}, "UNALIGN_CORNERS", true)}.exact(t)
	}
}

func resizeSettings(size []int, mode string, nearest bool) string {
	interpolation := "LINEAR"
	if nearest {
		interpolation = "NEAREST_NEIGHBOR"
	}
	return fmt.Sprintf(", shape = %s, resized_dims = uint32(%d), sampling_mode = string(%q), interpolation_mode = "+
		"string(%q)", intVec(size...), len(size), mode, interpolation)
}

// A box whose end is before its start is sampled backward.
func TestCropOfReversedBox(t *testing.T) {
	x := zeros(mil.FP32, 1, 1, 6, 6)
	for i := range x.v {
		x.v[i] = float64(i)
	}
	want := nd{mil.FP32, []int{1, 1, 3, 3}, []float64{35, 33, 31, 23, 21, 19, 11, 9, 7}}
	operation{op: "crop_resize", in: []operand{{"x", x, false}, {"boxes", nd{mil.FP32, []int{1, 4},
		[]float64{5, 5, 1, 1}}, false}}, want: []nd{want},
		settings: `, target_height = int32(3), target_width = int32(3),
		box_coordinate_mode = string("CORNERS_HEIGHT_FIRST"), sampling_mode = string("ALIGN_CORNERS")`}.exact(t)
}

// Random numbers are those of SplitMix64 by its definition, from a seed of 0 too.
func TestNumbersOfSeeds(t *testing.T) {
	for _, seed := range []uint64{0, 7} {
		s := openStateful(t, fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>() {\ntensor<fp32, [40]> y = "+
			"random_uniform("+
			"shape = tensor<int32, [1]>([40]), low = fp32(0), high = fp32(1), seed = int32(%d));\n} -> (y);\n}\n",
			seed))
		for range 2 {
			got, state := s.run(nil, "y"), seed
			word := func() uint64 {
				state += 0x9E3779B97F4A7C15
				z := state
				z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
				z = (z ^ z>>27) * 0x94D049BB133111EB
				return z ^ z>>31
			}
			for i := range 40 {
				want := float64(float32(float64(word()>>11) / (1 << 53)))
				word()
				require.Equal(t, want, load(mil.FP32, got[4*i:]), "element %d", i)
			}
		}
		s.close()
	}
}

// A server of the engine asks whether a program has states.
func TestStatefulPrograms(t *testing.T) {
	e := soft.New()
	defer func() { require.NoError(t, e.Close()) }()
	for text, want := range map[string]bool{
		"program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [2]> x) {\ntensor<fp16, [2]> y = relu(x = x);\n} -> " +
			"(y);\n}": false,
		"program(1.3)\n{\nfunc main<ios18>(state<tensor<fp16, [2]>> s) {\ntensor<fp16, [2]> y = read_state(input = " +
			"s);\n" +
			"} -> (y);\n}": true,
	} {
		x, err := e.Compile(t.Context(), ane.Source{File: "test.mil", Text: []byte(text)})
		require.NoError(t, err)
		require.Equal(t, want, x.(interface{ Stateful() bool }).Stateful(), text)
		require.NoError(t, x.Unload(t.Context()))
	}
}
