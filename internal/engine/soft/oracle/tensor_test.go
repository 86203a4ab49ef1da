package oracle_test

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// nd is a tensor: exact values, row-major.
type nd struct {
	d     mil.DType
	shape []int
	v     []float64
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func zeros(d mil.DType, shape ...int) nd { return nd{d, shape, make([]float64, volume(shape))} }

// index is the position of an element.
func (a nd) index(i []int) int {
	at := 0
	for k, n := range a.shape {
		at = at*n + i[k]
	}
	return at
}

// each visits every index of a shape in row-major order.
func each(shape []int, visit func(i []int)) {
	i := make([]int, len(shape))
	for range volume(shape) {
		visit(i)
		for k := len(i) - 1; k >= 0; k-- {
			if i[k]++; i[k] < shape[k] {
				break
			}
			i[k] = 0
		}
	}
}

// each maps every element.
func (a nd) each(f func(float64) float64) nd {
	y := zeros(a.d, a.shape...)
	for i, x := range a.v {
		y.v[i] = f(x)
	}
	return y
}

// pair maps two tensors that broadcast.
func pair(a, b nd, f func(a, b float64) float64) nd {
	y := zeros(a.d, broadcast(a.shape, b.shape)...)
	a, b = a.spread(y.shape), b.spread(y.shape)
	for i := range y.v {
		y.v[i] = f(a.v[i], b.v[i])
	}
	return y
}

func broadcast(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape := slices.Clone(a)
	for i, n := range b {
		if at := len(a) - len(b) + i; shape[at] == 1 {
			shape[at] = n
		}
	}
	return shape
}

// spread repeats axes of length 1 until the tensor has the shape.
func (a nd) spread(shape []int) nd {
	if slices.Equal(a.shape, shape) {
		return a
	}
	y := zeros(a.d, shape...)
	at, from := make([]int, len(a.shape)), 0
	each(shape, func(i []int) {
		for k := range at {
			at[k] = min(i[len(shape)-len(at)+k], a.shape[k]-1)
		}
		y.v[from] = a.v[a.index(at)]
		from++
	})
	return y
}

// as is the tensor with another shape, in which one length may be -1.
func (a nd) as(shape []int) nd {
	shape = slices.Clone(shape)
	if k := slices.Index(shape, -1); k >= 0 {
		shape[k] = 1
		shape[k] = len(a.v) / volume(shape)
	}
	return nd{a.d, shape, a.v}
}

// turn reorders the axes.
func (a nd) turn(perm []int) nd {
	shape, at := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		shape[i] = a.shape[p]
	}
	y, k := zeros(a.d, shape...), 0
	each(shape, func(i []int) {
		for j, p := range perm {
			at[p] = i[j]
		}
		y.v[k] = a.v[a.index(at)]
		k++
	})
	return y
}

// last is the order of axes in which some are moved to the end, and the way back.
func last(rank int, moved []int) (perm, back []int) {
	for i := range rank {
		if !slices.Contains(moved, i) {
			perm = append(perm, i)
		}
	}
	perm = append(perm, slices.Sorted(slices.Values(moved))...)
	back = make([]int, rank)
	for i, p := range perm {
		back[p] = i
	}
	return perm, back
}

// over maps the elements of the named axes, taken together: to as many, or to one, whose axes then stay if keep.
func (a nd) over(axes []int, keep bool, f func([]float64) []float64) nd {
	perm, back := last(len(a.shape), axes)
	x := a.turn(perm)
	n := 1
	for _, k := range axes {
		n *= a.shape[k]
	}
	var v []float64
	for i := 0; i < len(x.v); i += n {
		v = append(v, f(x.v[i:i+n])...)
	}
	if len(v) == len(x.v) && n > 1 {
		return nd{a.d, x.shape, v}.turn(back)
	}
	shape := []int{}
	for i, d := range a.shape {
		switch {
		case !slices.Contains(axes, i):
			shape = append(shape, d)
		case keep:
			shape = append(shape, 1)
		}
	}
	return nd{a.d, shape, v}
}

// join puts tensors behind each other along an axis.
func join(list []nd, k int) nd {
	shape := slices.Clone(list[0].shape)
	k = axis(k, len(shape))
	for _, x := range list[1:] {
		shape[k] += x.shape[k]
	}
	y := zeros(list[0].d, shape...)
	outer, at := volume(shape[:k]), 0
	for i := range outer {
		for _, x := range list {
			n := len(x.v) / outer
			at += copy(y.v[at:], x.v[i*n:(i+1)*n])
		}
	}
	return y
}

// cut takes count elements from begin on along an axis, each step apart.
func (a nd) cut(k, begin, count, step int) nd {
	shape := slices.Clone(a.shape)
	shape[k] = count
	y, at := zeros(a.d, shape...), 0
	each(shape, func(i []int) {
		i = slices.Clone(i)
		i[k] = begin + i[k]*step
		y.v[at] = a.v[a.index(i)]
		at++
	})
	return y
}

// padded surrounds a tensor with a value.
func (a nd) padded(before, after []int, value float64) nd {
	shape := slices.Clone(a.shape)
	for i := range shape {
		shape[i] += before[i] + after[i]
	}
	y := zeros(a.d, shape...).each(func(float64) float64 { return value })
	at, k := make([]int, len(shape)), 0
	each(a.shape, func(i []int) {
		for j := range i {
			at[j] = i[j] + before[j]
		}
		y.v[y.index(at)] = a.v[k]
		k++
	})
	return y
}

// ones is a list of n ones.
func ones(n int) []int { return slices.Repeat([]int{1}, n) }
