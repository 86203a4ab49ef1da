package soft_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
)

// from returns a tensor of d whose element at i is x's element at pick(i), or zero where pick returns nil.
func from(x nd, shape []int, pick func(i []int) []int) nd {
	out := zeros(x.d, shape...)
	each(shape, func(i []int) {
		if j := pick(slices.Clone(i)); j != nil {
			out.set(x.at(j...), i...)
		}
	})
	return out
}

// one is an operation on a single tensor x.
func one(op string, x nd, fixed bool, settings string, want nd) operation {
	return operation{op: op, in: []operand{{"x", x, fixed}}, settings: settings, want: []nd{want}}
}

func TestTile(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 200)...)
		var reps, shape []int
		for _, n := range x.shape {
			k := rapid.SampledFrom([]int{1, 1, 1, 2, 2, 3, 4}).Draw(t, "repetitions")
			reps, shape = append(reps, k), append(shape, n*k)
		}
		one("tile", x, constant(t), ", reps = "+intVec(reps...), from(x, shape, func(i []int) []int {
			for a := range i {
				i[a] %= x.shape[a]
			}
			return i
		})).exact(t)
	})
}

func TestReverse(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 1500)...)
		n := len(x.shape)
		axes, given := axesOf(t, n)
		settings := ", axes = " + intVec(given...)
		if oneIn(t, 4, "the default: all") {
			axes, settings = order(t, n), ""
		}
		one("reverse", x, constant(t), settings, from(x, x.shape, func(i []int) []int {
			for _, a := range axes {
				i[a] = x.shape[a] - 1 - i[a]
			}
			return i
		})).exact(t)
	})
}

func TestCrop(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 2, 5, 1500)...)
		n := len(x.shape)
		shape := slices.Clone(x.shape)
		var cuts [2][2]int
		for k := range 2 {
			length := x.shape[n-2+k]
			cuts[k][0] = number(t, 0, length-1, "before")
			cuts[k][1] = number(t, 0, length-cuts[k][0]-1, "after")
			shape[n-2+k] -= cuts[k][0] + cuts[k][1]
		}
		one("crop", x, constant(t), ", crop_height = "+intVec(cuts[0][:]...)+", crop_width = "+intVec(cuts[1][:]...),
			from(x, shape, func(i []int) []int {
				i[n-2] += cuts[0][0]
				i[n-1] += cuts[1][0]
				return i
			})).exact(t)
	})
}

func TestSlidingWindows(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 4, 300)...)
		axis, given := axisOf(t, len(x.shape))
		size, step := number(t, 1, min(x.shape[axis], 9), "size"), number(t, 1, 3, "stride")
		windows := 0
		for at := 0; at+size <= x.shape[axis]; at += step {
			windows++
		}
		shape := slices.Insert(slices.Clone(x.shape), axis, windows)
		shape[axis+1] = size
		settings := fmt.Sprintf(", axis = int32(%d), size = int32(%d)", given, size)
		if step > 1 || rapid.Bool().Draw(t, "stride is given") {
			settings += fmt.Sprintf(", stride = int32(%d)", step)
		}
		one("sliding_windows", x, constant(t), settings, from(x, shape, func(i []int) []int {
			at := i[axis]*step + i[axis+1]
			return append(append(i[:axis:axis], at), i[axis+2:]...)
		})).exact(t)
	})
}

// image draws a tensor of rank 4 with at least the given axes.
func image(t *rapid.T, d mil.DType, n, c, h, w int) nd {
	times := rapid.SampledFrom([]int{1, 1, 2, 3, 5, 8})
	return drawn(t, d, n*number(t, 1, 2, "images"), c*times.Draw(t, "channels"), h*times.Draw(t, "rows"),
		w*times.Draw(t, "columns"))
}

// TestDepthAndSpace follows the definitions: depth_to_space splits channels into (row, column, channel),
// pixel_shuffle into (channel, row, column); the others are the inverse.
func TestDepthAndSpace(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		b := number(t, 1, 3, "block")
		for _, op := range []struct {
			name, arg string
			channel   func(c, y, x, channels int) int // of the deep tensor
		}{
			{"depth_to_space", "block_size", func(c, y, x, n int) int { return (y*b+x)*n + c }},
			{"pixel_shuffle", "upscale_factor", func(c, y, x, _ int) int { return (c*b+y)*b + x }},
			{"space_to_depth", "block_size", func(c, y, x, n int) int { return (y*b+x)*n + c }},
			{"pixel_unshuffle", "downscale_factor", func(c, y, x, _ int) int { return (c*b+y)*b + x }},
		} {
			kind := "int32"
			if op.name == "pixel_unshuffle" {
				kind = "uint32"
			}
			settings := fmt.Sprintf(", %s = %s(%d)", op.arg, kind, b)
			if op.name == "depth_to_space" || op.name == "pixel_shuffle" {
				x := image(t, d, 1, b*b, 1, 1)
				n := x.shape[1] / (b * b)
				one(op.name, x, constant(t), settings, from(x, []int{x.shape[0], n, x.shape[2] * b, x.shape[3] * b},
					func(i []int) []int {
						return []int{i[0], op.channel(i[1], i[2]%b, i[3]%b, n), i[2] / b, i[3] / b}
					})).exact(t)
				continue
			}
			x := image(t, d, 1, 1, b, b)
			want := zeros(d, x.shape[0], x.shape[1]*b*b, x.shape[2]/b, x.shape[3]/b)
			each(x.shape, func(i []int) {
				want.set(x.at(i...), i[0], op.channel(i[1], i[2]%b, i[3]%b, x.shape[1]), i[2]/b, i[3]/b)
			})
			one(op.name, x, constant(t), settings, want).exact(t)
		}
	})
}

// TestSpaceAndBatch follows TensorFlow's definition: the block position counts before the image.
func TestSpaceAndBatch(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		bh, bw := number(t, 1, 3, "rows of a block"), number(t, 1, 3, "columns of a block")
		var e [2][2]int
		matrix := func() string {
			return fmt.Sprintf("tensor<int32, [2, 2]>([[%d, %d], [%d, %d]])", e[0][0], e[0][1], e[1][0], e[1][1])
		}
		block := ", block_shape = " + intVec(bh, bw)
		x := image(t, d, 1, 1, 1, 1)
		n, h, w := x.shape[0], x.shape[2], x.shape[3]
		e[0][0], e[1][0] = number(t, 0, 3, "above"), number(t, 0, 3, "left")
		e[0][1] = (bh-(h+e[0][0])%bh)%bh + either(t, 0, bh, "below")
		e[1][1] = (bw-(w+e[1][0])%bw)%bw + either(t, 0, bw, "right")
		shape := []int{n * bh * bw, x.shape[1], (h + e[0][0] + e[0][1]) / bh, (w + e[1][0] + e[1][1]) / bw}
		one("space_to_batch", x, constant(t), block+", paddings = "+matrix(), from(x, shape, func(i []int) []int {
			y := i[2]*bh + i[0]/n/bw - e[0][0]
			z := i[3]*bw + i[0]/n%bw - e[1][0]
			if y < 0 || z < 0 || y >= h || z >= w {
				return nil
			}
			return []int{i[0] % n, i[1], y, z}
		})).exact(t)

		x = image(t, d, bh*bw, 1, 1, 1)
		n, h, w = x.shape[0]/(bh*bw), x.shape[2]*bh, x.shape[3]*bw
		e[0][0], e[1][0] = number(t, 0, h-1, "above"), number(t, 0, w-1, "left")
		e[0][1], e[1][1] = number(t, 0, h-e[0][0]-1, "below"), number(t, 0, w-e[1][0]-1, "right")
		shape = []int{n, x.shape[1], h - e[0][0] - e[0][1], w - e[1][0] - e[1][1]}
		one("batch_to_space", x, constant(t), block+", crops = "+matrix(), from(x, shape, func(i []int) []int {
			y, z := i[2]+e[0][0], i[3]+e[1][0]
			return []int{(y%bh*bw+z%bw)*n + i[0], i[1], y / bh, z / bw}
		})).exact(t)
	})
}

func TestStack(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		shape := shapeOf(t, 0, 4, 500)
		axis, given := axisOf(t, len(shape)+1)
		count := number(t, 1, 4, "values")
		o := operation{op: "stack", settings: fmt.Sprintf(", axis = int32(%d)", given)}
		for range count {
			x := drawn(t, d, shape...)
			o.in = append(o.in, operand{"values", x, constant(t)})
		}
		want := zeros(d, slices.Insert(slices.Clone(shape), axis, count)...)
		each(want.shape, func(i []int) {
			want.set(o.in[i[axis]].value.at(slices.Delete(slices.Clone(i), axis, axis+1)...), i...)
		})
		o.want = []nd{want}
		o.exact(t)
	})
}

// lengthTypes are the types of indices and lengths.
var lengthTypes = []mil.DType{mil.Int32, mil.Int16, mil.UInt16, mil.Int8, mil.UInt8}

func TestReverseSequence(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 1500)...)
		seq, givenSeq := axisOf(t, len(x.shape))
		batch, givenBatch := axisOf(t, len(x.shape))
		lengths := zeros(rapid.SampledFrom(lengthTypes).Draw(t, "type of lengths"), x.shape[batch])
		some := []*rapid.Generator[int]{rapid.IntRange(0, x.shape[seq]), rapid.IntRange(0, x.shape[seq]),
			rapid.Just(120)} // beyond the axis: as long as it
		if lo, _ := lengths.d.Range(); lo < 0 {
			some = append(some, rapid.Just(-5)) // counts as 0
		}
		for i := range lengths.v {
			lengths.v[i] = float64(rapid.OneOf(some...).Draw(t, "length"))
		}
		settings := fmt.Sprintf(", seq_axis = int32(%d), batch_axis = int32(%d)", givenSeq, givenBatch)
		if seq == 0 && batch == 0 {
			settings = ""
		}
		want := from(x, x.shape, func(i []int) []int {
			count := int(min(max(lengths.v[i[batch]], 0), float64(x.shape[seq])))
			if i[seq] < count {
				i[seq] = count - 1 - i[seq]
			}
			return i
		})
		operation{op: "reverse_sequence", in: []operand{{"x", x, constant(t)},
			{"lengths", lengths, constant(t)}}, settings: settings, want: []nd{want}}.exact(t)
	})
}

// TestMoreViews compares views that have the elements of x.
func TestMoreViews(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 0, 5, 1500)...)
		n := len(x.shape)
		axis := number(t, 0, n, "axis")
		shape := []int{volume(x.shape[:axis]), volume(x.shape[axis:])}
		given := axis
		if axis < n {
			given -= either(t, 0, n, "from the end")
		}
		settings := fmt.Sprintf(", axis = int32(%d)", given)
		if axis == 1 && rapid.Bool().Draw(t, "the default") {
			settings = ""
		}
		one("flatten2d", x, constant(t), settings, nd{d, shape, x.v}).exact(t)
		if n == 0 {
			return
		}
		// A 0 in a shape keeps the axis of x, counted from the last; before the first it is 1.
		kept, lengths := slices.Clone(x.shape), slices.Clone(x.shape)
		for k := range kept {
			if rapid.Bool().Draw(t, "kept") {
				kept[k] = 0
			}
		}
		for range number(t, 0, 5-n, "more axes") {
			kept, lengths = slices.Insert(kept, 0, 0), slices.Insert(lengths, 0, 1)
		}
		if rapid.Bool().Draw(t, "one is inferred") {
			kept[number(t, 0, len(kept)-1, "inferred")] = -1
		}
		one("reshape", x, constant(t), ", shape = "+intVec(kept...), nd{d, lengths, x.v}).exact(t)
	})
}

// TestReshapeLike is the example of coremltools: [2, 3] of the first and [5, 6] of the second reference.
func TestReshapeLike(t *testing.T) {
	r := seeded(t)
	x := fill(r, mil.FP16, 6, 30)
	o := operation{op: "reshape_like", in: []operand{{"x", x, false}, {"ref_tensors", fill(r, mil.FP16, 2, 3, 4),
		false},
		{"ref_tensors", fill(r, mil.Int32, 1, 5, 6), false}},
		settings: ", begins = (int32(0), int32(-2)), ends = (int32(-1), int32(0)), end_masks = (bool(false), " +
			"bool(true))",
		want: []nd{{mil.FP16, []int{2, 3, 5, 6}, x.v}}}
	o.exact(t)
}
