package soft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

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
func one(r *rand.Rand, op string, x nd, settings string, want nd) operation {
	return operation{op: op, in: []operand{{"x", x, r.IntN(5) == 0}}, settings: settings, want: []nd{want}}
}

func TestTile(t *testing.T) {
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 5)...)
		var reps, shape []int
		for _, n := range x.shape {
			k := 1 + r.IntN(4)/(1+r.IntN(3))
			reps, shape = append(reps, k), append(shape, n*k)
		}
		one(r, "tile", x, ", reps = "+intVec(reps...), from(x, shape, func(i []int) []int {
			for a := range i {
				i[a] %= x.shape[a]
			}
			return i
		})).exact(t)
	})
}

func TestReverse(t *testing.T) {
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 5)...)
		n := len(x.shape)
		axes := r.Perm(n)[:1+r.IntN(n)]
		settings := ""
		if r.IntN(4) == 0 {
			axes = r.Perm(n) // the default: all
		} else {
			given := slices.Clone(axes)
			for k := range given {
				given[k] -= r.IntN(2) * n
			}
			settings = ", axes = " + intVec(given...)
		}
		one(r, "reverse", x, settings, from(x, x.shape, func(i []int) []int {
			for _, a := range axes {
				i[a] = x.shape[a] - 1 - i[a]
			}
			return i
		})).exact(t)
	})
}

func TestCrop(t *testing.T) {
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 2, 5)...)
		n := len(x.shape)
		shape := slices.Clone(x.shape)
		var cuts [2][2]int
		for k := range 2 {
			length := x.shape[n-2+k]
			cuts[k][0] = r.IntN(length)
			cuts[k][1] = r.IntN(length - cuts[k][0])
			shape[n-2+k] -= cuts[k][0] + cuts[k][1]
		}
		one(r, "crop", x, ", crop_height = "+intVec(cuts[0][:]...)+", crop_width = "+intVec(cuts[1][:]...),
			from(x, shape, func(i []int) []int {
				i[n-2] += cuts[0][0]
				i[n-1] += cuts[1][0]
				return i
			})).exact(t)
	})
}

func TestSlidingWindows(t *testing.T) {
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 4)...)
		n := len(x.shape)
		axis := r.IntN(n)
		size, step := 1+r.IntN(min(x.shape[axis], 9)), 1+r.IntN(3)
		windows := 0
		for at := 0; at+size <= x.shape[axis]; at += step {
			windows++
		}
		shape := slices.Insert(slices.Clone(x.shape), axis, windows)
		shape[axis+1] = size
		settings := fmt.Sprintf(", axis = int32(%d), size = int32(%d)", axis-r.IntN(2)*n, size)
		if step > 1 || r.IntN(2) == 0 {
			settings += fmt.Sprintf(", stride = int32(%d)", step)
		}
		one(r, "sliding_windows", x, settings, from(x, shape, func(i []int) []int {
			at := i[axis]*step + i[axis+1]
			return append(append(i[:axis:axis], at), i[axis+2:]...)
		})).exact(t)
	})
}

// image returns a tensor of rank 4 with at least the given axes.
func image(r *rand.Rand, d mil.DType, n, c, h, w int) nd {
	lengths := []int{1, 1, 2, 3, 5, 8}
	pick := func() int { return lengths[r.IntN(len(lengths))] }
	return moved(r, d, n*(1+r.IntN(2)), c*pick(), h*pick(), w*pick())
}

// TestDepthAndSpace follows the definitions: depth_to_space splits channels into (row, column, channel),
// pixel_shuffle into (channel, row, column); the others are the inverse.
func TestDepthAndSpace(t *testing.T) {
	perType(t, 10, func(t *testing.T, r *rand.Rand, d mil.DType) {
		b := 1 + r.IntN(3)
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
				x := image(r, d, 1, b*b, 1, 1)
				n := x.shape[1] / (b * b)
				one(r, op.name, x, settings, from(x, []int{x.shape[0], n, x.shape[2] * b, x.shape[3] * b},
					func(i []int) []int {
						return []int{i[0], op.channel(i[1], i[2]%b, i[3]%b, n), i[2] / b, i[3] / b}
					})).exact(t)
				continue
			}
			x := image(r, d, 1, 1, b, b)
			want := zeros(d, x.shape[0], x.shape[1]*b*b, x.shape[2]/b, x.shape[3]/b)
			each(x.shape, func(i []int) {
				want.set(x.at(i...), i[0], op.channel(i[1], i[2]%b, i[3]%b, x.shape[1]), i[2]/b, i[3]/b)
			})
			one(r, op.name, x, settings, want).exact(t)
		}
	})
}

// TestSpaceAndBatch follows TensorFlow's definition: the block position counts before the image.
func TestSpaceAndBatch(t *testing.T) {
	perType(t, 15, func(t *testing.T, r *rand.Rand, d mil.DType) {
		bh, bw := 1+r.IntN(3), 1+r.IntN(3)
		var e [2][2]int
		matrix := func() string {
			return fmt.Sprintf("tensor<int32, [2, 2]>([[%d, %d], [%d, %d]])", e[0][0], e[0][1], e[1][0], e[1][1])
		}
		block := ", block_shape = " + intVec(bh, bw)
		x := image(r, d, 1, 1, 1, 1)
		n, h, w := x.shape[0], x.shape[2], x.shape[3]
		e[0][0], e[1][0] = r.IntN(4), r.IntN(4)
		e[0][1], e[1][1] = (bh-(h+e[0][0])%bh)%bh+bh*r.IntN(2), (bw-(w+e[1][0])%bw)%bw+bw*r.IntN(2)
		shape := []int{n * bh * bw, x.shape[1], (h + e[0][0] + e[0][1]) / bh, (w + e[1][0] + e[1][1]) / bw}
		one(r, "space_to_batch", x, block+", paddings = "+matrix(), from(x, shape, func(i []int) []int {
			y := i[2]*bh + i[0]/n/bw - e[0][0]
			z := i[3]*bw + i[0]/n%bw - e[1][0]
			if y < 0 || z < 0 || y >= h || z >= w {
				return nil
			}
			return []int{i[0] % n, i[1], y, z}
		})).exact(t)

		x = image(r, d, bh*bw, 1, 1, 1)
		n, h, w = x.shape[0]/(bh*bw), x.shape[2]*bh, x.shape[3]*bw
		e[0][0], e[1][0] = r.IntN(h), r.IntN(w)
		e[0][1], e[1][1] = r.IntN(h-e[0][0]), r.IntN(w-e[1][0])
		shape = []int{n, x.shape[1], h - e[0][0] - e[0][1], w - e[1][0] - e[1][1]}
		one(r, "batch_to_space", x, block+", crops = "+matrix(), from(x, shape, func(i []int) []int {
			y, z := i[2]+e[0][0], i[3]+e[1][0]
			return []int{(y%bh*bw+z%bw)*n + i[0], i[1], y / bh, z / bw}
		})).exact(t)
	})
}

func TestStack(t *testing.T) {
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		shape := randomShape(r, 0, 4)
		n := len(shape) + 1
		axis, count := r.IntN(n), 1+r.IntN(4)
		o := operation{op: "stack", settings: fmt.Sprintf(", axis = int32(%d)", axis-r.IntN(2)*n)}
		for range count {
			o.in = append(o.in, operand{"values", moved(r, d, shape...), r.IntN(6) == 0})
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
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 5)...)
		n := len(x.shape)
		seq, batch := r.IntN(n), r.IntN(n)
		lengths := zeros(lengthTypes[r.IntN(len(lengthTypes))], x.shape[batch])
		for i := range lengths.v {
			lengths.v[i] = float64(r.IntN(x.shape[seq] + 1))
			if r.IntN(8) == 0 { // beyond the axis: as long as it
				lengths.v[i] = 120
			} else if lo, _ := lengths.d.Range(); lo < 0 && r.IntN(8) == 0 { // counts as 0
				lengths.v[i] = -5
			}
		}
		settings := fmt.Sprintf(", seq_axis = int32(%d), batch_axis = int32(%d)", seq-r.IntN(2)*n, batch-r.IntN(2)*n)
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
		operation{op: "reverse_sequence", in: []operand{{"x", x, r.IntN(5) == 0}, {"lengths", lengths, r.IntN(3) == 0}},
			settings: settings, want: []nd{want}}.exact(t)
	})
}

// TestMoreViews compares views that have the elements of x.
func TestMoreViews(t *testing.T) {
	perType(t, 20, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 0, 5)...)
		n := len(x.shape)
		axis := r.IntN(n + 1)
		shape := []int{volume(x.shape[:axis]), volume(x.shape[axis:])}
		given := axis
		if axis < n && r.IntN(2) == 0 {
			given -= n
		}
		settings := fmt.Sprintf(", axis = int32(%d)", given)
		if axis == 1 && r.IntN(2) == 0 {
			settings = ""
		}
		one(r, "flatten2d", x, settings, nd{d, shape, x.v}).exact(t)
		if n == 0 {
			return
		}
		// A 0 in a shape keeps the axis of x, counted from the last; before the first it is 1.
		kept, lengths := slices.Clone(x.shape), slices.Clone(x.shape)
		for k := range kept {
			if r.IntN(2) == 0 {
				kept[k] = 0
			}
		}
		for len(lengths) < 5 && r.IntN(2) == 0 {
			kept, lengths = slices.Insert(kept, 0, 0), slices.Insert(lengths, 0, 1)
		}
		if r.IntN(2) == 0 {
			kept[r.IntN(len(kept))] = -1
		}
		one(r, "reshape", x, ", shape = "+intVec(kept...), nd{d, lengths, x.v}).exact(t)
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
