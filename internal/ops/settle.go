package ops

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
)

// maxSettled is the largest number of elements of a value that settle computes.
const maxSettled = 1 << 12

// settle computes the elements of a value where a setting needs them: an axis, a shape, a bound of a slice. Published
// programs compute these from the shapes of tensors with a few operators, which table in this file. It leaves alone
// what depends on inputs or on the content of weight files, which may be replaced.
func (v *Value) settle() {
	for stack := []*Value{v}; len(stack) > 0; {
		at := stack[len(stack)-1]
		before := len(stack)
		if n := at.Made; !at.settled() && n.settles() {
			for _, from := range n.Arguments() {
				if !from.settled() {
					stack = append(stack, from)
				}
			}
			if len(stack) > before {
				continue
			}
			at.guessed = slices.ContainsFunc(n.Arguments(), func(from *Value) bool { return from.guessed })
			n.settle()
		}
		at.final = true
		stack = stack[:before-1]
	}
}

// settled reports whether there is nothing to compute.
func (v *Value) settled() bool { return v.final || v.Data != nil || v.Text != nil || v.Made == nil }

// settles reports whether settle has the operator, and results and operands are few.
func (n *Node) settles() bool {
	if n.Def == nil || n.faulty {
		return false
	}
	_, each := elementwise[n.Def.Name]
	_, all := rearranging[n.Def.Name]
	return (each || all) && !slices.ContainsFunc(slices.Concat(n.Out, n.Arguments()), func(v *Value) bool {
		return v.Open || v.State || v.Elements() > maxSettled
	})
}

// settle computes the results of a node whose operands have elements, if they have.
func (n *Node) settle() {
	known := func(v *Value) bool { return v == nil || v.Data != nil && v.weight == nil }
	if slices.ContainsFunc(n.In, func(v *Value) bool { return !known(v) }) {
		return
	}
	var lists [][]float64
	for _, v := range n.In {
		if v != nil {
			lists = append(lists, v.Floats())
		}
	}
	if f, each := elementwise[n.Def.Name]; each {
		lists = [][]float64{n.combine(f, lists)}
	} else {
		lists = rearranging[n.Def.Name](n, lists)
	}
	for i, v := range n.Out {
		if slices.ContainsFunc(lists[i], func(x float64) bool { return !holds(v.DType, x) }) {
			return
		}
		v.Data, v.Folded = encode(v.DType, lists[i], same), true
	}
}

// holds reports whether elements of a type can be x but for rounding.
func holds(d mil.DType, x float64) bool {
	if d.Integer() {
		lo, hi := d.Range()
		return x == math.Trunc(x) && x >= float64(lo) && x <= float64(hi) && d.Bits() <= 32
	}
	return !math.IsNaN(x) && !math.IsInf(element.Load(d, encode(d, []float64{x}, same)), 0)
}

// combine applies a function to the elements of operands, broadcast to the shape of the result.
func (n *Node) combine(f func(to mil.DType, x []float64) float64, lists [][]float64) []float64 {
	out := n.Out[0]
	result, at := make([]float64, out.Elements()), make([]float64, len(lists))
	var from [][]int
	for _, v := range n.In {
		from = append(from, spread(v.Shape, out.Shape))
	}
	for i := range result {
		for j := range lists {
			at[j] = lists[j][place(i, out.Shape, from[j])]
		}
		result[i] = f(out.DType, at)
	}
	return result
}

// spread returns the strides of a dense tensor that is broadcast to a shape.
func spread(of, to []int) []int {
	strides := make([]int, len(to))
	for i, s := range Strides(of) {
		if of[i] > 1 {
			strides[len(to)-len(of)+i] = s
		}
	}
	return strides
}

// place returns where element i of a shape is in a tensor with strides.
func place(i int, shape, strides []int) (at int) {
	for a, n := range slices.Backward(shape) {
		at += i % n * strides[a]
		i /= n
	}
	return at
}

// list returns the elements of x that a Box lists.
func (b Box) list(x []float64) []float64 {
	out := make([]float64, Volume(b.Dims))
	for i := range out {
		out[i] = x[b.Base+place(i, b.Dims, b.Stride)]
	}
	return out
}

// elementwise are the operators that settle applies to each element. to is the type of the result.
var elementwise = map[string]func(to mil.DType, x []float64) float64{
	"add":     func(_ mil.DType, x []float64) float64 { return x[0] + x[1] },
	"sub":     func(_ mil.DType, x []float64) float64 { return x[0] - x[1] },
	"mul":     func(_ mil.DType, x []float64) float64 { return x[0] * x[1] },
	"maximum": func(_ mil.DType, x []float64) float64 { return max(x[0], x[1]) },
	"minimum": func(_ mil.DType, x []float64) float64 { return min(x[0], x[1]) },
	"real_div": func(to mil.DType, x []float64) float64 {
		if to.Integer() {
			return math.Trunc(x[0] / x[1])
		}
		return x[0] / x[1]
	},
	"floor_div": func(_ mil.DType, x []float64) float64 { return math.Floor(x[0] / x[1]) },
	"mod":       func(_ mil.DType, x []float64) float64 { return x[0] - x[1]*math.Floor(x[0]/x[1]) },
	"cast": func(to mil.DType, x []float64) float64 {
		switch {
		case to == mil.Bool:
			return truth(x[0] != 0)
		case to.Integer():
			return math.Trunc(x[0])
		}
		return x[0]
	},
	"select": func(_ mil.DType, x []float64) float64 {
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	},
	"greater":       func(_ mil.DType, x []float64) float64 { return truth(x[0] > x[1]) },
	"greater_equal": func(_ mil.DType, x []float64) float64 { return truth(x[0] >= x[1]) },
	"less":          func(_ mil.DType, x []float64) float64 { return truth(x[0] < x[1]) },
	"less_equal":    func(_ mil.DType, x []float64) float64 { return truth(x[0] <= x[1]) },
	"equal":         func(_ mil.DType, x []float64) float64 { return truth(x[0] == x[1]) },
	"not_equal":     func(_ mil.DType, x []float64) float64 { return truth(x[0] != x[1]) },
	"logical_and":   func(_ mil.DType, x []float64) float64 { return x[0] * x[1] },
	"logical_or":    func(_ mil.DType, x []float64) float64 { return max(x[0], x[1]) },
	"logical_xor":   func(_ mil.DType, x []float64) float64 { return truth(x[0] != x[1]) },
	"logical_not":   func(_ mil.DType, x []float64) float64 { return 1 - x[0] },
	"abs":           func(_ mil.DType, x []float64) float64 { return math.Abs(x[0]) },
	"neg":           func(_ mil.DType, x []float64) float64 { return -x[0] },
	"floor":         func(_ mil.DType, x []float64) float64 { return math.Floor(x[0]) },
	"ceil":          func(_ mil.DType, x []float64) float64 { return math.Ceil(x[0]) },
	"round":         func(_ mil.DType, x []float64) float64 { return math.RoundToEven(x[0]) },
	"identity":      func(_ mil.DType, x []float64) float64 { return x[0] },
}

// rearranging are the other operators that settle has, on the elements of their operands.
var rearranging = map[string]func(n *Node, x [][]float64) [][]float64{
	"reshape": first, "expand_dims": first, "squeeze": first, "flatten2d": first, "reshape_like": first,
	"tile":    listed,
	"reverse": listed,
	"transpose": func(n *Node, x [][]float64) [][]float64 {
		return [][]float64{rearranged(n.In[0].Shape, n.Attrs.([]int)).list(x[0])}
	},
	"slice_by_index": sliced,
	"slice_by_size":  sliced,
	"gather":         pickedOut,
	"concat":         putTogether,
	"stack":          putTogether,
	"split": func(n *Node, x [][]float64) (parts [][]float64) {
		axis, strides, base := n.Attrs.(int), Strides(n.In[0].Shape), 0
		for _, v := range n.Out {
			parts = append(parts, Box{v.Shape, strides, base}.list(x[0]))
			base += v.Shape[axis] * strides[axis]
		}
		return parts
	},
	"range_1d": func(n *Node, _ [][]float64) [][]float64 {
		r, list := n.Attrs.(Range), make([]float64, n.Out[0].Elements())
		for i := range list {
			list[i] = r.Start + float64(i)*r.Step
		}
		return [][]float64{list}
	},
	"fill":        repeated,
	"fill_like":   repeated,
	"reduce_sum":  reduced(func(a, x float64) float64 { return a + x }),
	"reduce_prod": reduced(func(a, x float64) float64 { return a * x }),
	"reduce_max":  reduced(func(a, x float64) float64 { return max(a, x) }),
	"reduce_min":  reduced(func(a, x float64) float64 { return min(a, x) }),
}

func first(_ *Node, x [][]float64) [][]float64 { return x[:1] }

func listed(n *Node, x [][]float64) [][]float64 { return [][]float64{n.Attrs.(Box).list(x[0])} }

func sliced(n *Node, x [][]float64) [][]float64 {
	a := n.Attrs.(Slice)
	b := Box{Dims: a.Size, Stride: Strides(n.In[0].Shape)}
	for i := range a.Size {
		b.Base += a.Begin[i] * b.Stride[i]
		b.Stride[i] *= a.Stride[i]
	}
	return [][]float64{b.list(x[0])}
}

func repeated(n *Node, _ [][]float64) [][]float64 {
	v := n.Out[0]
	return [][]float64{slices.Repeat([]float64{element.Load(v.DType, n.Attrs.(Fill).Element)}, v.Elements())}
}

// pickedOut is gather. An index beyond the axis means its first or last element.
func pickedOut(n *Node, x [][]float64) [][]float64 {
	a, from, at, out := n.Attrs.(Gather), n.In[0], n.In[1], n.Out[0]
	// The strides of the axes of the result in x, and in indices.
	inX, inAt := Strides(from.Shape), Strides(at.Shape)
	picked := len(inAt) - a.Batch
	step, zeros := inX[a.Axis], make([]int, len(out.Shape))
	inX = slices.Concat(inX[:a.Axis], zeros[:picked], inX[a.Axis+1:])
	inAt = slices.Concat(inAt[:a.Batch], zeros[:a.Axis-a.Batch], inAt[a.Batch:], zeros[:len(from.Shape)-1-a.Axis])
	length := from.Shape[a.Axis]
	list := make([]float64, out.Elements())
	for i := range list {
		index := bound(int(x[1][place(i, out.Shape, inAt)]), length, 0, length-1)
		list[i] = x[0][place(i, out.Shape, inX)+index*step]
	}
	return [][]float64{list}
}

// putTogether is concat and stack.
func putTogether(n *Node, x [][]float64) [][]float64 {
	a := n.Attrs.(Join)
	outer, rounds := Volume(n.Out[0].Shape[:a.Axis]), 1
	if a.Interleave {
		rounds = n.Out[0].Shape[a.Axis] / len(x)
	}
	var list []float64
	for i := range outer * rounds {
		for _, part := range x {
			size := len(part) / (outer * rounds)
			list = append(list, part[i*size:(i+1)*size]...)
		}
	}
	return [][]float64{list}
}

// reduced is a reduction of whole numbers, whose order does not matter.
func reduced(f func(a, x float64) float64) func(n *Node, x [][]float64) [][]float64 {
	return func(n *Node, x [][]float64) [][]float64 {
		v, kept := n.In[0], slices.Clone(n.In[0].Shape)
		for _, axis := range n.Attrs.(Reduce).Axes {
			kept[axis] = 1
		}
		list := slices.Repeat([]float64{math.NaN()}, Volume(kept)) // NaN: no element yet
		into := spread(kept, v.Shape)
		for i, e := range x[0] {
			if at := &list[place(i, v.Shape, into)]; math.IsNaN(*at) {
				*at = e
			} else {
				*at = f(*at, e)
			}
		}
		if !v.DType.Integer() {
			list[0] = math.NaN()
		}
		return [][]float64{list}
	}
}
