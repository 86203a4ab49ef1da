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

var samplingModes = []string{"DEFAULT", "STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "UNALIGN_CORNERS", "OFFSET_CORNERS"}

// gridPoint is the place of element i of m among n, by spacing and first point.
func gridPoint(mode string, i, n, m int) float64 {
	first, spacing := 0.0, 0.0
	in, out := float64(n), float64(m)
	switch mode {
	case "DEFAULT":
		spacing = in / out
	case "STRICT_ALIGN_CORNERS", "ALIGN_CORNERS":
		if m > 1 {
			spacing = (in - 1) / (out - 1)
		} else if mode == "ALIGN_CORNERS" {
			first = (in - 1) / 2
		}
	case "UNALIGN_CORNERS":
		spacing = in / out
		first = spacing/2 - 0.5
	case "OFFSET_CORNERS":
		spacing = math.Max(1, in-1) / out
		first = spacing / 2
	}
	return math.Min(in-1, math.Max(0, first+float64(i)*spacing))
}

// resizeCase interpolates between the 8 elements around a place, or takes the nearest.
func resizeCase(x nd, size []int, mode string, nearest bool) nd {
	lead := len(x.shape) - len(size)
	want := zeros(x.d, append(slices.Clone(x.shape[:lead]), size...)...)
	each(want.shape, func(i []int) {
		sum := 0.0
		corners := slices.Repeat([]int{2}, len(size))
		each(corners, func(corner []int) {
			from, weight := slices.Clone(i), 1.0
			for a := range size {
				n := x.shape[lead+a]
				p := gridPoint(mode, i[lead+a], n, size[a])
				low := math.Floor(p + 1e-9)
				part := math.Max(p-low, 0)
				switch {
				case nearest && mode == "DEFAULT":
					part = 0
				case nearest:
					low, part = math.Min(math.Floor(p+0.5+1e-9), float64(n-1)), 0
				}
				if corner[a] == 1 {
					weight *= part
					low = math.Min(low+1, float64(n-1))
				} else {
					weight *= 1 - part
				}
				from[lead+a] = int(low)
			}
			if weight != 0 {
				sum += weight * x.at(from...)
			}
		})
		want.set(sum, i...)
	})
	return want
}

// blended allows for places that are off by some 2^-50.
func blended(o operation) func(k, i int, w float64) float64 {
	return func(k, i int, w float64) float64 { return o.oneUlp(k, i, w) + 0x1p-36 }
}

func imageShape(r *rand.Rand) []int {
	for {
		if s := randomShape(r, 3, 5); volume(s) < 1500 {
			return s
		}
	}
}

func TestResizeBilinear(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(100) {
			x := fill(r, d, imageShape(r)...)
			mode := samplingModes[k%5]
			size := []int{1 + r.IntN(12), 1 + r.IntN(40)}
			o := operation{op: "resize_bilinear", in: []operand{{"x", x, k%9 == 0}}, want: []nd{resizeCase(x, size,
				mode, false)},
				settings: fmt.Sprintf(", target_size_height = int32(%d), target_size_width = int32(%d), "+
					"sampling_mode = string(%q)",
					size[0], size[1], mode)}
			o.near(t, blended(o))
		}
	}
	// Figures of the operator's documentation, and its defaults.
	x := nd{mil.FP32, []int{1, 1, 2}, []float64{0, 1}}
	for mode, want := range map[string][]float64{"UNALIGN_CORNERS": {0, 0.1, 0.5, 0.9, 1}, "ALIGN_CORNERS": {0, 0.25,
		0.5,
		0.75, 1}, "DEFAULT": {0, 0.4, 0.8, 1, 1}, "OFFSET_CORNERS": {0.1, 0.3, 0.5, 0.7, 0.9}} {
		o := operation{op: "resize_bilinear", in: []operand{{"x", x, false}}, want: []nd{{mil.FP32, []int{1, 1, 5},
			want}},
			settings: fmt.Sprintf(", target_size_width = int32(5), sampling_mode = string(%q)", mode)}
		o.near(t, o.oneUlp)
		if mode == "DEFAULT" {
			o.settings = ", target_size_width = int32(5)"
			o.near(t, o.oneUlp)
		}
	}
}

// Elements that have no share in a result do not change it.
func TestResizeEdges(t *testing.T) {
	inf := math.Inf(1)
	x := nd{mil.FP16, []int{1, 1, 3}, []float64{1, inf, math.NaN()}}
	operation{op: "resize_bilinear", in: []operand{{"x", x, false}}, settings: ", target_size_width = int32(6)",
		want: []nd{{mil.FP16, []int{1, 1, 6}, []float64{1, inf, inf, math.NaN(), math.NaN(), math.NaN()}}}}.exact(t)
	operation{op: "resize_nearest_neighbor", in: []operand{{"x", x, false}},
		settings: ", target_size_height = int32(1), target_size_width = int32(2)",
		want:     []nd{{mil.FP16, []int{1, 1, 2}, []float64{1, inf}}}}.exact(t)
	// A plane at the place of one of x has no share of another, nor of one of the channel before it.
	planes := nd{mil.FP16, []int{1, 2, 2, 1, 1}, []float64{1, inf, 2, 4}}
	operation{op: "resize", in: []operand{{"x", planes, false}}, settings: ", shape = " + intVec(3, 1, 1) +
		", resized_dims = uint32(3), interpolation_mode = string(\"LINEAR\"), sampling_mode = " +
		"string(\"STRICT_ALIGN_CORNERS\")",
		want: []nd{{mil.FP16, []int{1, 2, 3, 1, 1}, []float64{1, inf, inf, 2, 3, 4}}}}.exact(t)
}

// TestResampleEdges: an element at the place of one of x has no share of its neighbors.
func TestResampleEdges(t *testing.T) {
	inf := math.Inf(1)
	x := nd{mil.FP16, []int{1, 1, 2, 2}, []float64{1, inf, inf, inf}}
	at := nd{mil.FP32, []int{1, 1, 3, 2}, []float64{0, 0, 0.5, 0, 0, 0.5}}
	operation{op: "resample", in: []operand{{"x", x, false}, {"coordinates", at, false}},
		settings: `, sampling_mode = string("bilinear"), padding_mode = string("border"), padding_value = fp16(0), ` +
			`coordinates_mode = string("unnormalized"), align_corners = bool(true)`,
		want: []nd{{mil.FP16, []int{1, 1, 1, 3}, []float64{1, inf, inf}}}}.exact(t)
}

// TestResizeRoundsProducts wants the bits of every processor: two products that cancel leave
// +0, but -0 or less if one of them is fused with the sum.
func TestResizeRoundsProducts(t *testing.T) {
	x := nd{mil.FP16, []int{1, 1, 2}, []float64{-3, 6}}
	operation{op: "resize_bilinear", in: []operand{{"x", x, false}},
		settings: `, target_size_width = int32(4), sampling_mode = string("STRICT_ALIGN_CORNERS")`,
		want:     []nd{{mil.FP16, []int{1, 1, 4}, []float64{-3, 0, 3, 6}}}}.exact(t)
}

func TestResizeNearestNeighbor(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(60) {
		x := special(r, mil.FP16, imageShape(r)...)
		size := []int{1 + r.IntN(12), 1 + r.IntN(40)}
		operation{op: "resize_nearest_neighbor", in: []operand{{"x", x, k%9 == 0}}, want: []nd{nearestCase(x, size)},
			settings: fmt.Sprintf(", target_size_height = int32(%d), target_size_width = int32(%d)", size[0],
				size[1])}.exact(t)
	}
}

// nearestCase takes the element before each place.
func nearestCase(x nd, size []int) nd {
	lead := len(x.shape) - len(size)
	want := zeros(x.d, append(slices.Clone(x.shape[:lead]), size...)...)
	each(want.shape, func(i []int) {
		from := slices.Clone(i)
		for a := range size {
			from[lead+a] = i[lead+a] * x.shape[lead+a] / size[a]
		}
		want.set(x.at(from...), i...)
	})
	return want
}

func TestUpsample(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(60) {
		x := fill(r, mil.FP16, imageShape(r)...)
		n := len(x.shape)
		h, w := 1+r.IntN(3), 1+r.IntN(3)
		settings := fmt.Sprintf(", scale_factor_height = int32(%d), scale_factor_width = int32(%d)", h, w)
		size := []int{x.shape[n-2] * h, x.shape[n-1] * w}
		if k%3 == 0 {
			settings = fmt.Sprintf(", scale_factor_height = fp32(%d.5), scale_factor_width = fp32(%d.25)", h, w)
			size = []int{x.shape[n-2] * (2*h + 1) / 2, x.shape[n-1] * (4*w + 1) / 4}
		}
		operation{op: "upsample_nearest_neighbor", in: []operand{{"x", x, false}}, settings: settings,
			want: []nd{nearestCase(x, size)}}.exact(t)
		c := []struct{ settings, mode string }{{"", "STRICT_ALIGN_CORNERS"}, {", align_corners = bool(true)",
			"STRICT_ALIGN_CORNERS"}, {", align_corners = bool(false)", "UNALIGN_CORNERS"},
			{", align_corners = bool(false), half_pixel_centers = bool(false)", "DEFAULT"}}[k%4]
		o := operation{op: "upsample_bilinear", in: []operand{{"x", x, false}}, settings: settings + c.settings,
			want: []nd{resizeCase(x, size, c.mode, false)}}
		o.near(t, blended(o))
	}
	x := fill(r, mil.FP16, 1, 2, 3)
	for _, op := range []string{"upsample_nearest_neighbor", "upsample_bilinear"} {
		operation{op: op, in: []operand{{"x", x, false}}, want: []nd{x}}.exact(t) // factors 1
	}
}

func TestResize(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(120) {
		d := []mil.DType{mil.FP16, mil.FP32, mil.Int32}[k%3]
		x := fill(r, d, randomShape(r, 1, 4)...)
		for volume(x.shape) > 800 {
			x = fill(r, d, randomShape(r, 1, 4)...)
		}
		count := r.IntN(min(3, len(x.shape)) + 1)
		shape, size := []int{}, []int{}
		for i := range 1 + r.IntN(len(x.shape)) {
			shape = append(shape, 1+r.IntN(9))
			if i == 0 && r.IntN(2) == 0 {
				shape[0] = 0 // as many as x
			}
		}
		count = min(count, len(shape))
		for i := range count {
			n := shape[len(shape)-count+i]
			if n == 0 {
				n = x.shape[len(x.shape)-count+i]
			}
			size = append(size, n)
		}
		mode, nearest := samplingModes[r.IntN(5)], d == mil.Int32 || k%2 == 0
		interpolation := "LINEAR"
		if nearest {
			interpolation = "NEAREST_NEIGHBOR"
		}
		o := operation{op: "resize", in: []operand{{"x", x, false}}, want: []nd{resizeCase(x, size, mode, nearest)},
			settings: fmt.Sprintf(", shape = %s, resized_dims = uint32(%d), interpolation_mode = string(%q), "+
				"sampling_mode = string(%q)",
				intVec(shape...), count, interpolation, mode)}
		if nearest && mode == "DEFAULT" {
			o.want[0] = nearestCase(x, size)
		}
		if nearest {
			o.exact(t)
		} else {
			o.near(t, blended(o))
		}
	}
}

// paddedAt reads a plane with its padding, which it counts out element by element.
func paddedAt(x nd, b, c, row, col int, padding string, value float64) float64 {
	walk := func(p, n int) int {
		for p < 0 || p >= n {
			switch {
			case padding == "border":
				p = min(max(p, 0), n-1)
			case padding == "reflection" && n == 1:
				p = 0
			case padding == "reflection" && p < 0:
				p = -p
			case padding == "reflection":
				p = 2*(n-1) - p
			case p < 0:
				p = -1 - p
			default:
				p = 2*n - 1 - p
			}
		}
		return p
	}
	h, w := x.shape[2], x.shape[3]
	if padding == "constant" && (row < 0 || row >= h || col < 0 || col >= w) {
		return value
	}
	return x.at(b, c, walk(row, h), walk(col, w))
}

// sampleRef is the value of the padded plane at a place.
func sampleRef(x nd, b, c int, px, py float64, nearest bool, padding string, value float64) float64 {
	if nearest {
		return paddedAt(x, b, c, int(math.RoundToEven(py)), int(math.RoundToEven(px)), padding, value)
	}
	left, top := math.Floor(px), math.Floor(py)
	sum := 0.0
	for _, corner := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		wy, wx := 1-math.Abs(top+float64(corner[0])-py), 1-math.Abs(left+float64(corner[1])-px)
		if wy*wx != 0 {
			sum += wy * wx * paddedAt(x, b, c, int(top)+corner[0], int(left)+corner[1], padding, value)
		}
	}
	return sum
}

// toElement converts a coordinate to a place among n elements.
func toElement(at float64, n int, mode string, align bool) float64 {
	low, high := 0.0, float64(n-1) // the places of the ends of the coordinates
	if !align {
		low, high = -0.5, float64(n)-0.5
	}
	switch mode {
	case "normalized_minus_one_to_one":
		return low + (high-low)*(at+1)/2
	case "normalized_zero_to_one":
		return low + (high-low)*at
	}
	return at
}

var coordinateModes = []string{"unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"}

func TestResample(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(120) {
			x := fill(r, d, 1+r.IntN(2), 1+r.IntN(3), 1+r.IntN(6), 1+r.IntN(9))
			mode, align := coordinateModes[k%3], r.IntN(2) == 0
			padding := []string{"constant", "border", "reflection", "symmetric"}[r.IntN(4)]
			nearest := k%5 == 0
			kind := []mil.DType{mil.FP32, mil.FP16, mil.Int32, mil.Int8, mil.Int16}[r.IntN(5)]
			if mode != "unnormalized" || nearest {
				kind = mil.FP32
			}
			at := zeros(kind, x.shape[0], 1+r.IntN(4), 1+r.IntN(33), 2)
			for i := range at.v {
				if at.v[i] = r.NormFloat64(); mode == "unnormalized" {
					at.v[i] = math.Round(at.v[i]*64) / 8
				}
				if kind.Integer() {
					at.v[i] = math.Round(at.v[i]) + 0
				}
			}
			at = exactly16(at)
			want := zeros(d, x.shape[0], x.shape[1], at.shape[1], at.shape[2])
			each(want.shape, func(i []int) {
				px := toElement(at.at(i[0], i[2], i[3], 0), x.shape[3], mode, align)
				py := toElement(at.at(i[0], i[2], i[3], 1), x.shape[2], mode, align)
				want.set(sampleRef(x, i[0], i[1], px, py, nearest, padding, 0.25), i...)
			})
			sampling := "bilinear"
			if nearest {
				sampling = "nearest"
			}
			o := operation{op: "resample", in: []operand{{"x", x, k%9 == 0}, {"coordinates", at, k%7 == 0}},
				want: []nd{want},
				settings: fmt.Sprintf(", sampling_mode = string(%q), padding_mode = string(%q), "+
					"padding_value = fp16(0.25), "+
					"coordinates_mode = string(%q), align_corners = bool(%t)", sampling, padding, mode, align)}
			o.near(t, blended(o))
		}
	}
}

// Coordinates beyond every integer.
func TestResampleFarAway(t *testing.T) {
	inf := math.Inf(1)
	x := nd{mil.FP16, []int{1, 1, 1, 3}, []float64{1, 2, 3}}
	at := nd{mil.FP32, []int{1, 1, 4, 2}, []float64{inf, 0, -inf, 0, 0x1p100, 0, -0x1p100, 0}}
	for padding, want := range map[string][]float64{"constant": {7, 7, 7, 7}, "border": {3, 1, 3, 1}} {
		operation{op: "resample", in: []operand{{"x", x, false}, {"coordinates", at, false}},
			settings: `, sampling_mode = string("bilinear"), padding_mode = string("` + padding + `"), ` +
				`padding_value = fp16(7), ` +
				`coordinates_mode = string("unnormalized"), align_corners = bool(true)`,
			want: []nd{{mil.FP16, []int{1, 1, 1, 4}, want}}}.exact(t)
	}
}

func TestAffine(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(90) {
			x := fill(r, d, 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(6), 1+r.IntN(9))
			mode, align := coordinateModes[(k+1)%3], k%2 == 0
			m := fill(r, d, []int{1, x.shape[0]}[r.IntN(2)], 6)
			h, w := 1+r.IntN(5), 1+r.IntN(33)
			coordinate := func(i, n int) float64 {
				part := (float64(i) + 0.5) / float64(n)
				if align && n > 1 {
					part = float64(i) / float64(n-1)
				}
				switch mode {
				case "normalized_minus_one_to_one":
					return 2*part - 1
				case "normalized_zero_to_one":
					return part
				}
				return float64(i)
			}
			want := zeros(d, x.shape[0], x.shape[1], h, w)
			each(want.shape, func(i []int) {
				a := m.v[:6]
				if m.shape[0] > 1 {
					a = m.v[6*i[0]:]
				}
				cx, cy := coordinate(i[3], w), coordinate(i[2], h)
				px := toElement(a[0]*cx+a[1]*cy+a[2], x.shape[3], mode, align)
				py := toElement(a[3]*cx+a[4]*cy+a[5], x.shape[2], mode, align)
				want.set(sampleRef(x, i[0], i[1], px, py, false, "border", 0), i...)
			})
			o := operation{op: "affine", in: []operand{{"x", x, k%9 == 0}, {"transform_matrix", m, k%2 == 0}},
				want: []nd{want},
				settings: fmt.Sprintf(", output_height = int32(%d), output_width = int32(%d), "+
					"sampling_mode = string(\"bilinear\"), "+
					"padding_mode = string(\"border\"), padding_value = fp16(0), coordinates_mode = string(%q), "+
					"align_corners = bool(%t)", h, w, mode, align)}
			o.near(t, func(k, i int, w float64) float64 { return o.oneUlp(k, i, w) + 0x1p-30 })
		}
	}
	// The usual form: the unit matrix returns x, a shift leaves zeros.
	x := nd{mil.FP16, []int{1, 1, 1, 3}, []float64{1, 2, 3}}
	for _, c := range []struct{ matrix, want []float64 }{
		{[]float64{1, 0, 0, 0, 1, 0}, []float64{1, 2, 3}}, {[]float64{1, 0, 1, 0, 1, 0}, []float64{2, 3, 0}},
		{[]float64{1, 0, 0.5, 0, 1, 0}, []float64{1.5, 2.5, 1.5}}, {[]float64{-1, 0, 0, 0, 1, 0}, []float64{3, 2, 1}},
	} {
		operation{op: "affine", want: []nd{{mil.FP16, []int{1, 1, 1, 3}, c.want}}, in: []operand{{"x", x, false},
			{"transform_matrix", nd{mil.FP16, []int{1, 6}, c.matrix}, true}},
			settings: `, output_height = int32(1), output_width = int32(3), sampling_mode = string("bilinear"), ` +
				`padding_mode = ` +
				`string("constant"), padding_value = fp16(0), ` +
				`coordinates_mode = string("normalized_minus_one_to_one"), ` +
				`align_corners = bool(true)`}.exact(t)
	}
}
