package oracle_test

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// definitions has the results of each operator that computes tensors of tensors.
var definitions = map[string]func(call) []nd{
	"cast": func(c call) []nd {
		x := c.x("x")
		switch d := mil.ParseDType(c.word("dtype", "")); {
		case d == mil.Bool:
			return []nd{x.each(func(f float64) float64 { return truth(f != 0) })}
		case d.Integer():
			return []nd{x.each(math.Trunc)}
		}
		return []nd{x}
	},
	"clip": func(c call) []nd {
		lo, hi := c.num("alpha", 0), c.num("beta", 1)
		return []nd{c.x("x").each(func(f float64) float64 { return min(max(f, lo), hi) })}
	},
	"log": func(c call) []nd {
		e := c.num("epsilon", 0)
		return []nd{c.x("x").each(func(f float64) float64 { return math.Log(f + e) })}
	},
	"leaky_relu": func(c call) []nd {
		slope := c.num("alpha", 0.01)
		return []nd{c.x("x").each(func(f float64) float64 { return max(f, 0) + slope*min(f, 0) })}
	},
	"gelu": func(c call) []nd {
		require.Equal(c, "EXACT", c.word("mode", "EXACT"))
		return []nd{c.x("x").each(func(f float64) float64 { return f / 2 * (1 + math.Erf(f/math.Sqrt2)) })}
	},
	"select": func(c call) []nd {
		if cond := c.x("cond"); len(cond.v) == 1 { // of rank 0 or not, it chooses for all
			chosen := c.x("b")
			if cond.v[0] != 0 {
				chosen = c.x("a")
			}
			return []nd{chosen.spread(broadcast(broadcast(c.x("a").shape, c.x("b").shape), cond.shape))}
		}
		shape := broadcast(broadcast(c.x("a").shape, c.x("b").shape), c.x("cond").shape)
		a, b, cond := c.x("a").spread(shape), c.x("b").spread(shape), c.x("cond").spread(shape)
		y := zeros(a.d, shape...)
		for i := range y.v {
			if y.v[i] = b.v[i]; cond.v[i] != 0 {
				y.v[i] = a.v[i]
			}
		}
		return []nd{y}
	},
	"softmax": func(c call) []nd {
		x := c.x("x")
		return []nd{x.over([]int{axis(c.int("axis", -1), len(x.shape))}, true, func(list []float64) []float64 {
			top, y := slices.Max(list), make([]float64, len(list))
			for i, f := range list {
				y[i] = math.Exp(f - top)
			}
			all := sum(y)
			for i := range y {
				y[i] /= all
			}
			return y
		})}
	},
	"layer_norm": func(c call) []nd {
		x := c.x("x")
		axes := c.axes("axes", len(x.shape))
		y := x.over(axes, true, func(list []float64) []float64 {
			mean, square, y := sum(list)/float64(len(list)), 0.0, make([]float64, len(list))
			for _, f := range list {
				square += (f - mean) * (f - mean)
			}
			for i, f := range list {
				y[i] = (f - mean) / math.Sqrt(square/float64(len(list))+c.num("epsilon", 1e-5))
			}
			return y
		})
		for _, one := range []struct {
			name string
			f    func(a, b float64) float64
		}{{"gamma", func(a, b float64) float64 { return a * b }}, {"beta", func(a, b float64) float64 { return a + b }}} {
			if c.has(one.name) { // over the named axes, which are the last
				y = pair(y, c.x(one.name), one.f)
			}
		}
		return []nd{y}
	},
	"batch_norm": func(c call) []nd {
		x := c.x("x")
		along := func(name string, def float64) nd { // a value a channel
			v := zeros(x.d, x.shape[1]).each(func(float64) float64 { return def })
			if c.has(name) {
				v = c.x(name)
			}
			return v.as(append([]int{x.shape[1]}, ones(len(x.shape)-2)...))
		}
		e := c.num("epsilon", 1e-5)
		y := pair(x, along("mean", 0), func(a, b float64) float64 { return a - b })
		y = pair(y, along("variance", 1), func(a, b float64) float64 { return a / math.Sqrt(b+e) })
		y = pair(y, along("gamma", 1), func(a, b float64) float64 { return a * b })
		return []nd{pair(y, along("beta", 0), func(a, b float64) float64 { return a + b })}
	},
	"transpose":   func(c call) []nd { return []nd{c.x("x").turn(c.axes("perm", len(c.x("x").shape)))} },
	"reshape":     func(c call) []nd { return []nd{c.x("x").as(c.ints("shape"))} },
	"shape":       func(c call) []nd { return []nd{numbers(c.x("x").shape...)} },
	"expand_dims": expand,
	"squeeze": func(c call) []nd {
		x, shape := c.x("x"), []int{}
		axes := c.axes("axes", len(x.shape))
		for i, n := range x.shape {
			if n != 1 || c.has("axes") && !slices.Contains(axes, i) {
				shape = append(shape, n)
			}
		}
		return []nd{x.as(shape)}
	},
	"concat": func(c call) []nd {
		require.False(c, c.flag("interleave"))
		return []nd{join(c.list("values"), c.int("axis", 0))}
	},
	"stack": func(c call) []nd {
		list := c.list("values")
		k := axis(c.int("axis", 0), len(list[0].shape)+1)
		for i, x := range list {
			list[i] = x.as(slices.Insert(slices.Clone(x.shape), k, 1))
		}
		return []nd{join(list, k)}
	},
	"split": func(c call) (all []nd) {
		x := c.x("x")
		k := axis(c.int("axis", 0), len(x.shape))
		sizes := c.ints("split_sizes")
		if sizes == nil {
			n := c.int("num_splits", 1)
			sizes = slices.Repeat([]int{x.shape[k] / n}, n)
		}
		at := 0
		for _, n := range sizes {
			all, at = append(all, x.cut(k, at, n, 1)), at+n
		}
		return all
	},
	"slice_by_index": sliceByIndex,
	"tile": func(c call) []nd {
		x := c.x("x")
		for k, n := range c.ints("reps") {
			x = join(slices.Repeat([]nd{x}, n), k)
		}
		return []nd{x}
	},
	"pad": func(c call) []nd {
		x, pad := c.x("x"), c.ints("pad")
		before, after := make([]int, len(x.shape)), make([]int, len(x.shape))
		for i := range len(pad) / 2 {
			k := len(x.shape) - len(pad)/2 + i
			before[k], after[k] = pad[2*i], pad[2*i+1]
		}
		y := x.padded(before, after, c.num("constant_val", 0))
		if mode := c.word("mode", "constant"); mode != "constant" {
			require.Equal(c, "reflect", mode)
			at, k := make([]int, len(x.shape)), 0
			each(y.shape, func(i []int) {
				for j := range i {
					at[j] = max(i[j]-before[j], before[j]-i[j])
					at[j] = min(at[j], 2*(x.shape[j]-1)-at[j])
				}
				y.v[k] = x.v[x.index(at)]
				k++
			})
		}
		return []nd{y}
	},
	"gather": func(c call) []nd {
		x, at := c.x("x"), c.x("indices")
		require.Zero(c, c.int("batch_dims", 0))
		k := axis(c.int("axis", 0), len(x.shape))
		var parts []nd
		for _, i := range at.v {
			parts = append(parts, x.cut(k, axis(int(i), x.shape[k]), 1, 1))
		}
		return []nd{join(parts, k).as(slices.Concat(x.shape[:k], at.shape, x.shape[k+1:]))}
	},
	"gather_along_axis": func(c call) []nd {
		x, at := c.x("x"), c.x("indices")
		k := axis(c.int("axis", 0), len(x.shape))
		y, n := zeros(x.d, at.shape...), 0
		each(at.shape, func(i []int) {
			i = slices.Clone(i)
			i[k] = axis(int(at.v[n]), x.shape[k])
			y.v[n] = x.v[x.index(i)]
			n++
		})
		return []nd{y}
	},
	"range_1d": func(c call) []nd {
		y := zeros(mil.FP32, 0)
		for f := c.num("start", 0); f < c.num("end", 0); f += c.num("step", 1) {
			y.v = append(y.v, f)
		}
		y.shape = []int{len(y.v)}
		return []nd{y}
	},
	"fill": func(c call) []nd {
		value := c.num("value", 0)
		return []nd{zeros(mil.FP32, c.ints("shape")...).each(func(float64) float64 { return value })}
	},
	"topk": func(c call) []nd {
		x := c.x("x")
		k := axis(c.int("axis", -1), len(x.shape))
		require.Equal(c, len(x.shape)-1, k)
		n, sign := c.int("k", 1), -1.0
		if c.flag("ascending") {
			sign = 1
		}
		values, at := zeros(x.d, append(slices.Clone(x.shape[:k]), n)...), zeros(mil.Int32)
		at.shape = values.shape
		values.v = nil
		for i := 0; i < len(x.v); i += x.shape[k] {
			list := x.v[i : i+x.shape[k]]
			order := c.count(len(list))
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sign*list[a], sign*list[b]) })
			at.v = at.v[:min(i/x.shape[k]*n, len(at.v))]
			for _, j := range order[:n] {
				values.v, at.v = append(values.v, list[j]), append(at.v, float64(j))
			}
		}
		return []nd{values, at}
	},
	"reduce_argmax": func(c call) []nd {
		x := c.x("x")
		return []nd{x.over([]int{axis(c.int("axis", -1), len(x.shape))}, c.num("keep_dims", 1) != 0,
			func(list []float64) []float64 { return []float64{float64(slices.Index(list, slices.Max(list)))} })}
	},
	"upsample_nearest_neighbor": func(c call) []nd {
		x := c.x("x")
		for i, name := range []string{"scale_factor_height", "scale_factor_width"} {
			k, n := len(x.shape)-2+i, int(c.num(name, 1))
			var parts []nd
			for at := range x.shape[k] * n {
				parts = append(parts, x.cut(k, at/n, 1, 1))
			}
			x = join(parts, k)
		}
		return []nd{x}
	},
	"max_pool": func(c call) []nd {
		return []nd{c.pool(math.Inf(-1), func(a, b float64) float64 { return max(a, b) })}
	},
	"avg_pool": func(c call) []nd {
		add := func(a, b float64) float64 { return a + b }
		y := c.pool(0, add)
		n := call{c.oracle, maps.Clone(c.args)} // how many elements each window has
		n.args["x"] = []known{{nd: c.x("x").each(func(float64) float64 { return 1 })}}
		if !c.flag("exclude_padding_from_average") {
			count := 1
			for _, k := range c.ints("kernel_sizes") {
				count *= k
			}
			return []nd{y.each(func(f float64) float64 { return f / float64(count) })}
		}
		return []nd{pair(y, n.pool(0, add), func(a, b float64) float64 { return a / b })}
	},
	"lstm": recurrence,
	"matmul": func(c call) []nd {
		a, b := c.x("x"), c.x("y")
		for _, one := range []struct {
			x    *nd
			flag string
		}{{&a, "transpose_x"}, {&b, "transpose_y"}} {
			if n := len(one.x.shape); c.flag(one.flag) {
				perm := c.count(n)
				perm[n-1], perm[n-2] = n-2, n-1
				*one.x = one.x.turn(perm)
			}
		}
		return []nd{product(a, b)}
	},
	"linear": func(c call) []nd {
		y := product(c.x("x"), c.x("weight").turn([]int{1, 0}))
		if c.has("bias") {
			y = pair(y, c.x("bias"), func(a, b float64) float64 { return a + b })
		}
		return []nd{y}
	},
	"conv": convolution,
}

// pool joins the elements of each window, axis by axis.
func (c call) pool(none float64, f func(a, b float64) float64) nd {
	y, kernel := c.x("x"), c.ints("kernel_sizes")
	strides := c.ints("strides", ones(len(kernel))...)
	require.False(c, c.flag("ceil_mode"))
	before, after := c.margins(y.shape[2:], kernel, strides, ones(len(kernel)))
	y = y.padded(append([]int{0, 0}, before...), append([]int{0, 0}, after...), none)
	for i := range kernel {
		n := (y.shape[2+i]-kernel[i])/strides[i] + 1
		all := y.cut(2+i, 0, n, strides[i])
		for k := 1; k < kernel[i]; k++ {
			all = pair(all, y.cut(2+i, k, n, strides[i]), f)
		}
		y = all
	}
	return y
}

// recurrence is an LSTM of x[s, b, i] in one direction or in both. Gates are in the order input, forget, output, cell.
func recurrence(c call) []nd {
	x, h0, c0 := c.x("x"), c.x("initial_h"), c.x("initial_c")
	require.Equal(c, "tanh", c.word("cell_activation", "tanh"))
	require.Equal(c, "sigmoid", c.word("recurrent_activation", "sigmoid"))
	require.Equal(c, "tanh", c.word("activation", "tanh"))
	require.False(c, c.has("peephole") || c.has("clip"))
	steps, suffixes := x.shape[0], []string{""}
	direction := c.word("direction", "forward")
	if direction == "bidirectional" {
		suffixes = append(suffixes, "_back")
	}
	n := h0.shape[1] / len(suffixes)
	add := func(a, b float64) float64 { return a + b }
	mul := func(a, b float64) float64 { return a * b }
	var outs, lastH, lastC []nd
	for k, suffix := range suffixes {
		h, cell := h0.cut(1, k*n, n, 1), c0.cut(1, k*n, n, 1)
		wi, wh := c.x("weight_ih"+suffix).turn([]int{1, 0}), c.x("weight_hh"+suffix).turn([]int{1, 0})
		out := make([]nd, steps)
		for s := range steps {
			at := s
			if suffix != "" || direction == "reverse" {
				at = steps - 1 - s
			}
			g := pair(product(x.cut(0, at, 1, 1).as(x.shape[1:]), wi), product(h, wh), add)
			if c.has("bias" + suffix) {
				g = pair(g, c.x("bias"+suffix), add)
			}
			gate := func(i int) nd { return g.cut(1, i*n, n, 1) }
			cell = pair(pair(gate(1).each(sigma), cell, mul), pair(gate(0).each(sigma), gate(3).each(math.Tanh), mul), add)
			h = pair(gate(2).each(sigma), cell.each(math.Tanh), mul)
			out[at] = h.as(append([]int{1}, h.shape...))
		}
		outs, lastH, lastC = append(outs, join(out, 0)), append(lastH, h), append(lastC, cell)
	}
	y, h := join(outs, 2), join(lastH, 1)
	if !c.flag("output_sequence") {
		y = h.as(append([]int{1}, h.shape...))
	}
	return []nd{y, h, join(lastC, 1)}
}

func numbers(list ...int) nd {
	x := zeros(mil.Int32, len(list))
	for i, n := range list {
		x.v[i] = float64(n)
	}
	return x
}

// list are the tensors of an argument.
func (c call) list(name string) (all []nd) {
	for _, v := range c.args[name] {
		all = append(all, v.nd)
	}
	return all
}

// count lists the numbers below n.
func (c call) count(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

func expand(c call) []nd {
	x, axes := c.x("x"), c.ints("axes")
	rest, shape := x.shape, make([]int, len(x.shape)+len(axes))
	for _, a := range axes {
		shape[axis(a, len(shape))] = 1
	}
	for i := range shape {
		if shape[i] == 0 {
			shape[i], rest = rest[0], rest[1:]
		}
	}
	return []nd{x.as(shape)}
}

func sliceByIndex(c call) []nd {
	x := c.x("x")
	begin, end, n := c.ints("begin"), c.ints("end"), len(x.shape)
	stride, squeezed := c.ints("stride", ones(n)...), c.ints("squeeze_mask", make([]int, n)...)
	fromStart, toEnd := c.ints("begin_mask", make([]int, n)...), c.ints("end_mask", make([]int, n)...)
	shape := []int{}
	for k := range n {
		size := x.shape[k]
		at, to := axis(begin[k], size), min(axis(end[k], size), size)
		require.Positive(c, stride[k])
		if fromStart[k] != 0 {
			at = 0
		}
		if toEnd[k] != 0 {
			to = size
		}
		if squeezed[k] != 0 {
			to = at + 1
		}
		x = x.cut(k, at, (to-at+stride[k]-1)/stride[k], stride[k])
		if squeezed[k] == 0 {
			shape = append(shape, x.shape[k])
		}
	}
	return []nd{x.as(shape)}
}

// product multiplies matrices, the last two axes, and broadcasts the others.
func product(a, b nd) nd {
	n, k := len(a.shape), a.shape[len(a.shape)-1]
	rows, cols := a.shape[n-2], b.shape[len(b.shape)-1]
	outer := broadcast(a.shape[:n-2], b.shape[:len(b.shape)-2])
	if n < 2 {
		panic("a vector")
	}
	y := zeros(a.d, append(slices.Clone(outer), rows, cols)...)
	a, b = a.spread(append(slices.Clone(outer), rows, k)), b.spread(append(slices.Clone(outer), k, cols))
	for i := range volume(outer) * rows {
		to := y.v[i*cols : (i+1)*cols]
		for j, f := range a.v[i*k : (i+1)*k] {
			row := b.v[(i/rows*k+j)*cols:][:cols]
			for m, g := range row {
				to[m] += f * g
			}
		}
	}
	return y
}

// convolution adds, for each element of the kernel, a shifted input times that element.
func convolution(c call) []nd {
	x, w := c.x("x"), c.x("weight")
	n := len(x.shape) - 2
	strides, dilations := c.ints("strides", ones(n)...), c.ints("dilations", ones(n)...)
	kernel, groups := w.shape[2:], c.int("groups", 1)
	before, after := c.margins(x.shape[2:], kernel, strides, dilations)
	x = x.padded(append([]int{0, 0}, before...), append([]int{0, 0}, after...), 0)
	shape := []int{x.shape[0], w.shape[0]}
	for i := range n {
		shape = append(shape, (x.shape[2+i]-(kernel[i]-1)*dilations[i]-1)/strides[i]+1)
	}
	y := zeros(x.d, shape...)
	plane, taps, in, out := volume(shape[2:]), volume(kernel), w.shape[1], w.shape[0]
	tap := 0
	each(kernel, func(k []int) {
		moved := x
		for i := range n {
			moved = moved.cut(2+i, k[i]*dilations[i], shape[2+i], strides[i])
		}
		for b := range shape[0] {
			for o := range out {
				to := y.v[(b*out+o)*plane:][:plane]
				for i := range in {
					f := w.v[(o*in+i)*taps+tap]
					for j, g := range moved.v[(b*x.shape[1]+o/(out/groups)*in+i)*plane:][:plane] {
						to[j] += f * g
					}
				}
			}
		}
		tap++
	})
	if c.has("bias") {
		y = pair(y, c.x("bias").as(append([]int{out}, ones(n)...)), func(a, b float64) float64 { return a + b })
	}
	return []nd{y}
}

func init() {
	for name, f := range map[string]func(float64) float64{
		"relu":        func(x float64) float64 { return max(x, 0) },
		"relu6":       func(x float64) float64 { return min(max(x, 0), 6) },
		"sigmoid":     sigma,
		"silu":        func(x float64) float64 { return x * sigma(x) },
		"tanh":        math.Tanh,
		"sqrt":        math.Sqrt,
		"floor":       math.Floor,
		"ceil":        math.Ceil,
		"round":       math.RoundToEven,
		"abs":         math.Abs,
		"exp":         math.Exp,
		"sin":         math.Sin,
		"cos":         math.Cos,
		"square":      func(x float64) float64 { return x * x },
		"logical_not": func(x float64) float64 { return truth(x == 0) },
		"identity":    func(x float64) float64 { return x },
	} {
		definitions[name] = func(c call) []nd { return []nd{c.x("x").each(f)} }
	}
	for name, f := range map[string]func(a, b float64) float64{
		"add":           func(a, b float64) float64 { return a + b },
		"sub":           func(a, b float64) float64 { return a - b },
		"mul":           func(a, b float64) float64 { return a * b },
		"real_div":      func(a, b float64) float64 { return a / b },
		"floor_div":     func(a, b float64) float64 { return math.Floor(a / b) },
		"mod":           func(a, b float64) float64 { return a - b*math.Floor(a/b) },
		"pow":           math.Pow,
		"maximum":       func(a, b float64) float64 { return max(a, b) },
		"minimum":       func(a, b float64) float64 { return min(a, b) },
		"less":          func(a, b float64) float64 { return truth(a < b) },
		"less_equal":    func(a, b float64) float64 { return truth(a <= b) },
		"greater":       func(a, b float64) float64 { return truth(a > b) },
		"greater_equal": func(a, b float64) float64 { return truth(a >= b) },
		"equal":         func(a, b float64) float64 { return truth(a == b) },
		"not_equal":     func(a, b float64) float64 { return truth(a != b) },
		"logical_and":   func(a, b float64) float64 { return truth(a != 0 && b != 0) },
		"logical_or":    func(a, b float64) float64 { return truth(a != 0 || b != 0) },
	} {
		definitions[name] = func(c call) []nd { return []nd{pair(c.x("x"), c.x("y"), f)} }
	}
	for name, f := range map[string]func(list []float64) float64{
		"reduce_sum":  sum,
		"reduce_mean": func(list []float64) float64 { return sum(list) / float64(len(list)) },
		"reduce_sum_square": func(list []float64) (s float64) {
			for _, x := range list {
				s += x * x
			}
			return s
		},
		"reduce_max": slices.Max[[]float64],
		"reduce_min": slices.Min[[]float64],
	} {
		definitions[name] = func(c call) []nd {
			x := c.x("x")
			return []nd{x.over(c.axes("axes", len(x.shape)), c.flag("keep_dims"), func(list []float64) []float64 {
				return []float64{f(list)}
			})}
		}
	}
}

func sigma(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func sum(list []float64) (s float64) {
	for _, x := range list {
		s += x
	}
	return s
}

// margins are the paddings of a sliding window before and after each spatial axis.
func (c call) margins(shape, kernel, strides, dilations []int) (before, after []int) {
	n := len(kernel)
	pad := c.ints("pad", make([]int, 2*n)...)
	for i := range n {
		span := (kernel[i]-1)*dilations[i] + 1
		b, e := 0, 0
		switch kind := c.word("pad_type", "valid"); kind {
		case "custom":
			b, e = pad[2*i], pad[2*i+1]
		case "same", "same_lower":
			all := max(((shape[i]+strides[i]-1)/strides[i]-1)*strides[i]+span-shape[i], 0)
			if b, e = all/2, all-all/2; kind == "same_lower" {
				b, e = e, b
			}
		default:
			require.Equal(c, "valid", kind)
		}
		before, after = append(before, b), append(after, e)
	}
	return before, after
}
