package main

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil/build"
)

// net builds one network twice: a program of fp16 for the software engine, and a graph of float32 for ONNX Runtime.
// Weights and inputs are the same numbers.
type net struct {
	*build.Func
	graph
	weights, results int
	inputs           []input
}

// input is an input of a net.
type input struct {
	name  string
	shape []int
}

// value is a tensor of both.
type value struct {
	mil  build.Value
	onnx string
}

// numbers are n numbers from -scale to scale.
func numbers(n, seed int, scale float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(float64((i*7919+seed*104729)%127-63) / 64 * scale)
	}
	return v
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// in is an input.
func (n *net) in(name string, shape ...int) value {
	n.inputs = append(n.inputs, input{name, shape})
	n.end(11, name, shape...)
	return value{n.Input(name, build.FP16, shape...), name}
}

// weight is a constant; with scale 0 the results of a product with it have about the size of its operands.
func (n *net) weight(scale float64, shape ...int) value {
	n.weights++
	if scale == 0 {
		scale = math.Exp2(-math.RoundToEven(math.Log2(float64(elements(shape[1:]))) / 2))
	}
	name, v := fmt.Sprint("w", n.weights), numbers(elements(shape), n.weights, scale)
	n.floats(name, v, shape...)
	return value{n.Weight(name, v, shape...), name}
}

// both is the result of an operator: that of the program is given, that of the graph appended.
func (n *net) both(v build.Value, kind string, inputs []value, attributes ...attribute) value {
	n.results++
	r := value{v, fmt.Sprint("r", n.results)}
	var names []string
	for _, i := range inputs {
		names = append(names, i.onnx)
	}
	n.node(kind, r.onnx, names, attributes...)
	return r
}

// list is a constant of the graph alone.
func (n *net) list(values ...int) value {
	n.results++
	name := fmt.Sprint("c", n.results)
	n.ints(name, values...)
	return value{onnx: name}
}

// number is a scalar.
func (n *net) number(x float64) value {
	n.results++
	name := fmt.Sprint("c", n.results)
	n.floats(name, []float32{float32(x)})
	return value{n.Scalar(x), name}
}

func (n *net) add(x, y value) value { return n.both(n.Add(x.mil, y.mil), "Add", []value{x, y}) }
func (n *net) mul(x, y value) value { return n.both(n.Mul(x.mil, y.mil), "Mul", []value{x, y}) }
func (n *net) matmul(x, y value) value {
	return n.both(n.Matmul(x.mil, y.mil), "MatMul", []value{x, y})
}
func (n *net) relu(x value) value    { return n.both(n.Relu(x.mil), "Relu", []value{x}) }
func (n *net) sigmoid(x value) value { return n.both(n.Sigmoid(x.mil), "Sigmoid", []value{x}) }

func (n *net) relu6(x value) value {
	return n.both(n.Clip(x.mil, 0, 6), "Clip", []value{x, n.number(0), n.number(6)})
}

func (n *net) softmax(x value) value {
	return n.both(n.Softmax(x.mil, -1), "Softmax", []value{x}, attribute{"axis", -1})
}

func (n *net) transpose(x value, order ...int) value {
	return n.both(n.Transpose(x.mil, order...), "Transpose", []value{x}, attribute{"perm", order})
}

func (n *net) reshape(x value, shape ...int) value {
	return n.both(n.Reshape(x.mil, shape...), "Reshape", []value{x, n.list(shape...)})
}

func (n *net) mean(x value, keep bool, axes ...int) value {
	kept := 0
	if keep {
		kept = 1
	}
	return n.both(n.ReduceMean(x.mil, axes, build.KeepDims(keep)), "ReduceMean", []value{x}, attribute{"axes", axes},
		attribute{"keepdims", kept})
}

func (n *net) layerNorm(x value, width int) value {
	g, b := n.weight(1, width), n.weight(.125, width)
	return n.both(n.LayerNorm(x.mil, []int{-1}, build.Gamma(g.mil), build.Beta(b.mil), build.Epsilon(1e-5)),
		"LayerNormalization", []value{x, g, b}, attribute{"axis", -1}, attribute{"epsilon", 1e-5})
}

// gelu has five operators in the graph.
func (n *net) gelu(x value) value {
	mil := n.Gelu(x.mil)
	half := value{onnx: n.number(.5).onnx}
	e := n.both(mil, "Mul", []value{x, n.number(math.Sqrt(.5))})
	e = n.both(mil, "Erf", []value{e})
	e = n.both(mil, "Add", []value{e, n.number(1)})
	e = n.both(mil, "Mul", []value{x, e})
	return n.both(mil, "Mul", []value{e, half})
}

// linear is a product with weights, and a bias.
func (n *net) linear(x value, in, out int) value {
	return n.add(n.matmul(x, n.weight(0, in, out)), n.weight(.125, out))
}

// sides are the padding of windows of so many rows and columns.
func sides(k int) []int { p := (k - 1) / 2; return []int{p, p, p, p} }

func window(k, stride int) []attribute {
	return []attribute{{"kernel_shape", []int{k, k}}, {"strides", []int{stride, stride}}, {"pads", sides(k)}}
}

func (n *net) conv(x value, in, out, k, stride, groups int) value {
	w, b := n.weight(0, out, in/groups, k, k), n.weight(.125, out)
	y := n.Conv(x.mil, w.mil, build.Strides{stride, stride}, build.Padding(sides(k)), build.Groups(groups))
	return n.both(n.Add(y, n.Reshape(b.mil, 1, out, 1, 1)), "Conv", []value{x, w, b},
		append(window(k, stride), attribute{"group", groups})...)
}

func (n *net) maxPool(x value, k, stride int) value {
	return n.both(n.MaxPool(x.mil, []int{k, k}, build.Strides{stride, stride}, build.Padding(sides(k))), "MaxPool",
		[]value{x}, window(k, stride)...)
}

func (n *net) avgPool(x value, k, stride int) value {
	return n.both(n.AvgPool(x.mil, []int{k, k}, build.Strides{stride, stride}, build.Padding(sides(k)),
		build.ExcludePadding(true)), "AveragePool", []value{x}, window(k, stride)...)
}

func (n *net) convTranspose2(x value, channels int) value {
	w := n.weight(0, channels, channels, 2, 2)
	return n.both(n.ConvTranspose(x.mil, w.mil, build.Strides{2, 2}), "ConvTranspose", []value{x, w},
		attribute{"kernel_shape", []int{2, 2}}, attribute{"strides", []int{2, 2}})
}

func (n *net) upsample2(x value) value {
	n.results++
	scales := fmt.Sprint("c", n.results)
	n.floats(scales, []float32{1, 1, 2, 2}, 4)
	return n.both(n.UpsampleBilinear(x.mil, 2, 2, build.SampleUnalign), "Resize", []value{x, {}, {onnx: scales}},
		attribute{"mode", "linear"}, attribute{"coordinate_transformation_mode", "half_pixel"})
}
