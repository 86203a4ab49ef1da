package soft_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

func TestCropResize(t *testing.T) {
	orders := []string{"CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST",
		"CENTER_SIZE_WIDTH_FIRST"}
	r := seeded(t)
	for k := range effort.Cases(120) {
		d := []mil.DType{mil.FP16, mil.FP32}[k%2]
		x := fill(r, d, 1+r.IntN(3), 1+r.IntN(2), 2+r.IntN(6), 2+r.IntN(9))
		images, channels, h, w := x.shape[0], x.shape[1], x.shape[2], x.shape[3]
		n, form := 1+r.IntN(3), k/2%4
		if form == 0 {
			n = min(n, images)
		}
		order, mode, normalized := orders[r.IntN(4)], samplingModes[r.IntN(5)], r.IntN(2) == 0
		oh, ow := 1+r.IntN(4), 1+r.IntN(12)
		// Corners within x, in quarters of elements; every fourth box lies outside.
		corners, index := make([][4]float64, n), make([]int, n)
		boxes := zeros(d, n, 4)
		for b := range n {
			var c [4]float64
			for axis, length := range []int{h, w} {
				last := 4 * (length - 1)
				from := r.IntN(last)
				to := from + 1 + r.IntN(last-from)
				c[axis], c[2+axis] = float64(from)/4, float64(to)/4
			}
			if k%4 == 3 {
				c[0], c[2] = float64(h)+1, float64(h)+2
			}
			index[b] = r.IntN(images)
			if form == 0 {
				index[b] = b
			}
			v := c
			if normalized {
				v = [4]float64{v[0] / float64(h-1), v[1] / float64(w-1), v[2] / float64(h-1), v[3] / float64(w-1)}
			}
			if order[:2] == "CE" {
				v = [4]float64{(v[0] + v[2]) / 2, (v[1] + v[3]) / 2, v[2] - v[0], v[3] - v[1]}
			}
			if order == orders[1] || order == orders[3] {
				v = [4]float64{v[1], v[0], v[3], v[2]}
			}
			for i := range v {
				boxes.set(v[i]*2, b, i) // spatial_scale is a half
			}
			corners[b] = c
		}
		boxes = exactly16(boxes)
		exact := !normalized || d == mil.FP32
		if !exact {
			continue // the corners are no longer known
		}
		at := func(b, img, ch, i, j int) float64 {
			c := corners[b]
			py, px := c[0]+cropPoint(mode, i, c[2]-c[0], oh), c[1]+cropPoint(mode, j, c[3]-c[1], ow)
			if py < -1e-5 || py > float64(h-1)+1e-5 {
				return -7
			}
			return sampleRef(x, img, ch, px, py, false, "border", 0)
		}
		o := operation{op: "crop_resize", in: []operand{{"x", x, false}},
			settings: fmt.Sprintf(", target_height = int32(%d), target_width = int32(%d), "+
				"normalized_coordinates = bool(%t), "+
				"spatial_scale = fp32(0.5), box_coordinate_mode = string(%q), sampling_mode = string(%q), "+
				"pad_value = fp16(-7)",
				oh, ow, normalized, order, mode)}
		var want nd
		switch form {
		case 0, 1: // boxes, for the images in order or by index
			want = zeros(d, n, channels, oh, ow)
			each(want.shape, func(i []int) { want.set(at(i[0], index[i[0]], i[1], i[2], i[3]), i...) })
			o.in = append(o.in, operand{"boxes", boxes, k%3 == 0})
			if form == 1 {
				list := zeros([]mil.DType{mil.Int32, mil.UInt16}[k%2], n)
				for b := range n {
					list.v[b] = float64(index[b])
				}
				o.in = append(o.in, operand{"box_indices", list, k%3 == 1})
			}
		case 2: // regions of every image
			want = zeros(d, n, images, channels, oh, ow)
			each(want.shape, func(i []int) { want.set(at(i[0], i[1], i[2], i[3], i[4]), i...) })
			o.in = append(o.in, operand{"roi", nd{d, []int{n, 1, 4, 1, 1}, boxes.v}, false})
		case 3: // regions with the index of an image
			want = zeros(d, n, 1, channels, oh, ow)
			each(want.shape, func(i []int) { want.set(at(i[0], index[i[0]], i[2], i[3], i[4]), i...) })
			roi := zeros(d, n, 1, 5, 1, 1)
			for b := range n {
				roi.v[5*b] = float64(index[b])
				copy(roi.v[5*b+1:], boxes.v[4*b:4*b+4])
			}
			o.in = append(o.in, operand{"roi", roi, false})
		}
		o.want = []nd{want}
		o.near(t, func(k, i int, w float64) float64 { return o.oneUlp(k, i, w) + 0x1p-14 }) // corners are rounded
	}
}

// cropPoint is gridPoint for a box that spans a distance.
func cropPoint(mode string, i int, distance float64, m int) float64 {
	n, f, out := distance+1, float64(i), float64(m)
	p := 0.0
	switch mode {
	case "DEFAULT":
		p = f * n / out
	case "STRICT_ALIGN_CORNERS", "ALIGN_CORNERS":
		if m > 1 {
			p = f * distance / (out - 1)
		} else if mode == "ALIGN_CORNERS" {
			p = distance / 2
		}
	case "UNALIGN_CORNERS":
		p = (f+0.5)*n/out - 0.5
	case "OFFSET_CORNERS":
		p = (f + 0.5) * math.Max(1, distance) / out
	}
	return math.Min(math.Max(p, 0), distance)
}

// A box of an image that does not exist is padding.
func TestCropResizeOfNoImage(t *testing.T) {
	x := nd{mil.FP16, []int{1, 1, 1, 2}, []float64{1, 2}}
	boxes := nd{mil.FP16, []int{2, 4}, []float64{0, 0, 0, 1, 0, 0, 0, 1}}
	operation{op: "crop_resize", in: []operand{{"x", x, false}, {"boxes", boxes, false}, {"box_indices", nd{mil.Int32,
		[]int{2},
		[]float64{0, 1}}, false}}, settings: `, pad_value = fp16(5)`,
		want: []nd{{mil.FP16, []int{2, 1, 1, 1}, []float64{1, 5}}}}.exact(t)
}

// TestCropResizeToOneElement: aligned corners leave the middle of the box to the only element.
func TestCropResizeToOneElement(t *testing.T) {
	for mode, want := range map[string]float64{"ALIGN_CORNERS": 9, "STRICT_ALIGN_CORNERS": 3} {
		operation{op: "crop_resize", in: []operand{{"x", nd{mil.FP16, []int{1, 1, 1, 3}, []float64{3, 9, 5}}, false},
			{"boxes", nd{mil.FP16, []int{1, 4}, []float64{0, 0, 0, 2}}, false}},
			settings: fmt.Sprintf(`, target_height = int32(1), target_width = int32(1), sampling_mode = string(%q)`, mode),
			want:     []nd{{mil.FP16, []int{1, 1, 1, 1}, []float64{want}}}}.exact(t)
	}
}

// TestCropResizeBesideTheEdge: a place that rounding moves beyond the last element is that element, and another is
// padding.
func TestCropResizeBesideTheEdge(t *testing.T) {
	for _, c := range []struct {
		start, end float64
		want       []float64
	}{
		{0, 1, []float64{3, 9}}, {-0x1p-22, 1, []float64{3, 9}}, {0, 1 + 0x1p-22, []float64{3, 9}},
		{-0x1p-18, 1, []float64{5, 9}}, {0, 1 + 0x1p-18, []float64{3, 5}},
	} {
		operation{op: "crop_resize", in: []operand{{"x", nd{mil.FP16, []int{1, 1, 1, 2}, []float64{3, 9}}, false},
			{"boxes", nd{mil.FP32, []int{1, 4}, []float64{0, c.start, 0, c.end}}, false}},
			settings: `, target_height = int32(1), target_width = int32(2), sampling_mode = ` +
				`string("STRICT_ALIGN_CORNERS"), pad_value = fp16(5)`,
			want: []nd{{mil.FP16, []int{1, 1, 1, 2}, c.want}}}.exact(t)
	}
}
