package build_test

import (
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// faulty has faulty calls and their faults.
var faulty = []struct {
	call func(f *build.Func, v values)
	want string
}{
	{func(f *build.Func, v values) { f.Add(v.x, v.img) }, "add: y: shape [1 4 8 9] does not broadcast"},
	{func(f *build.Func, v values) { f.Relu(build.Value{}) }, "relu: x: no value; pass what Input"},
	{func(f *build.Func, v values) { f.Mul(v.f, v.half) }, "mul: y: y is fp16 but x is fp32; convert one with cast"},
	{func(f *build.Func, v values) { f.Softmax(v.x, 1<<40) },
		"softmax: axis: 1099511627776 is out of range; int32 holds"},
	{func(f *build.Func, v values) { f.Conv(v.img, v.k, build.Groups(0)) }, "conv: groups: 0 does not divide"},
	{func(f *build.Func, v values) { f.Conv(v.img, v.k, build.Padding{1}) },
		"conv: pad: tensor<int32, [1]> does not fit; give a vector of 4"},
	{func(f *build.Func, v values) { f.Conv(v.img, v.k, build.Strides{}) }, "conv: strides: the list is empty"},
	{func(f *build.Func, v values) { f.Conv(v.half, v.k, nil) }, "conv: x: shape []; use [N, C, W]"},
	{func(f *build.Func, v values) { f.Conv(v.img, v.k, build.PadType("sane")) },
		`conv: pad_type: "sane" is not known; did you mean same`},
	{func(f *build.Func, v values) { f.MaxPool(v.img, nil) }, "max_pool: kernel_sizes: the list is empty"},
	{func(f *build.Func, v values) { f.LayerNorm(v.x, nil, nil) }, "layer_norm: axes: the list is empty"},
	{func(f *build.Func, v values) { f.ReduceSum(v.half, nil) }, "reduce_sum: axes: the list is empty"},
	{func(f *build.Func, v values) { f.Gelu(v.x, "ABOUT") }, `gelu: mode: "ABOUT" is not known`},
	{func(f *build.Func, v values) { f.Reshape(v.x, -1, -1) },
		"reshape: shape: [-1 -1]; sizes are at least 1, one may be -1"},
	{func(f *build.Func, v values) { f.Reshape(v.x, -1, 7) }, "reshape: shape: "},
	{func(f *build.Func, v values) { f.Reshape(v.x) }, "reshape: shape: the list is empty"},
	{func(f *build.Func, v values) { f.Squeeze(v.f) }, "squeeze: axes: the list is empty"},
	{func(f *build.Func, v values) { f.Concat(0) }, "concat: values: empty list"},
	{func(f *build.Func, v values) { f.Concat(0, v.x, build.Value{}) }, "concat: values[1]: no value"},
	{func(f *build.Func, v values) { f.Split(v.x, 1, 3) },
		"split: num_splits: axis 1 of x[1 4 2 32] cannot be split into 3"},
	{func(f *build.Func, v values) { f.SplitSizes(v.x, 1) }, "split: split_sizes: the list is empty"},
	{func(f *build.Func, v values) { f.ReshapeLike(v.f) }, "reshape_like: ref_tensors: empty list"},
	{func(f *build.Func, v values) { f.ReshapeLike(v.f, build.AxesOf{Value: v.f, End: 1 << 40}) },
		"reshape_like: ends: 1099511627776 is out of range"},
	{func(f *build.Func, v values) { f.Tile(v.f, 2) }, "tile: reps: tensor<int32, [1]> does not fit"},
	{func(f *build.Func, v values) { f.Fill(mil.Int8, 0.5, 2) }, "fill: value: 0.5 is not of type int8"},
	{func(f *build.Func, v values) { f.Fill(mil.Int8, 300, 2) }, "fill: value: 300 is out of range"},
	{func(f *build.Func, v values) { f.Range1d(mil.FP16, 0, 1, 0) }, "range_1d: end: +Inf numbers"},
	{func(f *build.Func, v values) { f.NonZero(v.f) }, "non_zero: x: the shape of the result depends on values"},
	{func(f *build.Func, v values) { f.SliceBySizeAt(v.f, v.i, 1, 2) },
		"slice_by_size: begin: tensor<int32, [2, 3]> does not fit"},
	{func(f *build.Func, v values) { f.ReadState(v.x) }, "read_state: input: has to be a state; declare a parameter"},
	{func(f *build.Func, v values) { f.Relu(f.State("kv", build.FP16, 2)) },
		"relu: x: a state where a tensor is expected"},
	{func(f *build.Func, v values) { f.WriteState(f.State("kv", build.FP16, 2), v.f) },
		"write_state: data: tensor<fp32, [2, 3]> where kv holds tensor<fp16, [2]>"},
	{func(f *build.Func, v values) { f.State("x", build.FP16, 2) }, `state "x" is defined twice`},
	{func(f *build.Func, v values) { f.State("kv", mil.String, 2) }, "kv: string cannot be stored"},
	{func(f *build.Func, v values) { f.Gather(v.f, v.f, 0) }, "gather: indices: f is not handled for type fp32"},
	{func(f *build.Func, v values) { f.ScatterAlongAxis(v.f, v.i, v.f, 1, build.ScatterMode("sum")) },
		`scatter_along_axis: mode: "sum" is not known`},
	{func(f *build.Func, v values) { f.Topk(v.f, 4, 0) }, "topk: k: 4 of axis 0 of x[2 3]"},
	{func(f *build.Func, v values) { f.SliceByIndex(v.x, []int{0}, []int{1}) },
		"slice_by_index: begin: tensor<int32, [1]> does not fit"},
	{func(f *build.Func, v values) { f.Pad(v.i, []int{1, 1}, build.PadValue(0.5)) },
		"pad: constant_val: 0.5 is not of type int32"},
	{func(f *build.Func, v values) { f.Pad(v.i, []int{1, 1}, build.PadValue(math.Inf(1))) },
		"pad: constant_val: +Inf is not of type int32"},
	{func(f *build.Func, v values) { f.Cast(v.x, mil.String) }, `cast: dtype: "string" is not known`},
	{func(f *build.Func, v values) { f.Linear(v.x, v.w, build.Bias{}) }, "linear: bias: no value"},
	{func(f *build.Func, v values) { f.Input("x", build.FP16, 1) }, `input "x" is defined twice; the first is at `},
	{func(f *build.Func, v values) { f.Input("tensor", build.FP16, 1) }, `input "tensor" is not a name`},
	{func(f *build.Func, v values) { f.Input("z", build.FP16, 1, -1) }, `z: shape [1 -1] is empty`},
	{func(f *build.Func, v values) { f.Input("z", mil.Int4, 1) }, `input z: int4 cannot be stored on a surface`},
	{func(f *build.Func, v values) { f.Input(strings.Repeat("é", 99), build.FP16, 1) }, `.. is not a name`},
	{func(f *build.Func, v values) { f.Const("c", nil) }, `constant "c": no value`},
	{func(f *build.Func, v values) { f.Const("c", mil.Ints(mil.TensorOf(mil.Int32, 3), []int{1})) },
		`constant "c": list of 1 where tensor<int32, [3]> needs 3`},
	{func(f *build.Func, v values) { f.Weight("u", make([]float32, 3), 2, 2) },
		`weight "u": 3 values for 4 elements of shape [2 2]`},
	{func(f *build.Func, v values) { f.Weight("u", nil, 0) }, `weight: shape [0] is empty`},
	{func(f *build.Func, v values) { f.WeightFrom("u", mil.TensorOf(mil.FP16, 1), nil) },
		`weight "u": no stream of tensor<fp16, [1]>`},
	{func(f *build.Func, v values) { f.WeightFrom("u", mil.TensorOf(mil.Int64, 1), nil) },
		`weight "u": a weight file cannot hold tensor<int64, [1]>`},
	{func(f *build.Func, v values) { f.Blob("u", mil.TensorOf(mil.FP16, 1), "w.bin", 64) },
		`weight "u": path "w.bin" does not start with @model_path/`},
	{func(f *build.Func, v values) { f.Blob("u", mil.TensorOf(mil.FP16, 1), "@model_path/w", math.MaxUint64) },
		`weight "u": 18446744073709551615 is above 9223372036854775807`},
	{func(f *build.Func, v values) { f.Output("a", v.x) }, `output "a" is an input; multiply it by one`},
	{func(f *build.Func, v values) { f.Output("a", v.k) }, `output "a" is a constant; multiply it by one`},
	{func(f *build.Func, v values) { f.Output("a", build.Value{}) }, `output "a": no value`},
	{func(f *build.Func, v values) { f.Output("x", f.Relu(v.x)) }, `output "x" is defined twice`},
	{func(f *build.Func, v values) { y := f.Relu(v.x); f.Output("a", y); f.Output("b", y) },
		`output "b" is already output "a"`},
	{func(f *build.Func, v values) { f.Share(v.x) }, "share: the value is not a weight"},
	{func(f *build.Func, v values) { f.Share(build.Value{}) }, "share: no value"},
	{func(f *build.Func, v values) { f.Op("a b", mil.TensorOf(mil.FP16, 1)) }, `operator "a b" is not a name`},
	{func(f *build.Func, v values) { f.Op("frobnicate", mil.TensorOf(mil.FP16, 0), build.A("x", v.x)) },
		`frobnicate: a result of type tensor<fp16, [0]>`},
	{func(f *build.Func, v values) { f.Op("rellu", v.x.Type(), build.A("x", v.x)) },
		"unknown operator rellu; did you mean relu? "},
	{func(f *build.Func, v values) { f.Op("while_loop", v.x.Type(), build.A("loop_vars", v.x)) },
		"while_loop: 0 blocks, 2 expected"},
	{func(f *build.Func, v values) { f.Relu(new(build.Func).Input("z", build.FP16, 1)) },
		"relu: x: the value belongs to a zero Func; make the function with Builder.Func"},
	{func(f *build.Func, v values) { f.Output("a", new(build.Func).Scalar(1)) },
		`output "a": the value belongs to a zero Func`},
	{func(f *build.Func, v values) { f.Share(new(build.Func).Weight("u", []float32{1}, 1)) },
		"share: the value belongs to a zero Func"},
	{func(f *build.Func, v values) { f.Op("sin", v.x.Type(), build.A("x", 1.5)) }, `sin: x: float64 is not an operand`},
	{func(f *build.Func, v values) { f.Op("sin", v.x.Type(), build.A("x y", v.x)) },
		`sin: argument "x y" is not a name`},
	{func(f *build.Func, v values) { f.Op("sin", v.x.Type(), build.A("x", v.x), build.A("x", v.x)) },
		`sin: argument "x" is given twice`},
	{func(f *build.Func, v values) { f.Op("sin", v.x.Type(), build.A("x", (*mil.Value)(nil))) }, `sin: x: no value`},
	{func(f *build.Func, v values) { f.Op("relu", v.y.Type(), build.A("x", v.x)) },
		`relu: the result is tensor<fp16, [1, 4, 2, 32]>, not`},
	{func(f *build.Func, v values) { f.Op("relu", v.y.Type(), build.A("y", v.x)) }, `relu: there is no argument y`},
}

func TestFaults(t *testing.T) {
	for _, c := range faulty {
		t.Run(c.want, func(t *testing.T) {
			b := build.New()
			f := b.Func("main")
			v := inputs(f)
			f.Output("good", f.Relu(v.x))
			c.call(f, v)
			p, err := b.Program()
			require.ErrorContains(t, err, c.want)
			require.Nil(t, p)
			var list mil.ErrorList
			require.True(t, errors.As(err, &list))
			for _, e := range list {
				require.Equal(t, "faults_test.go", filepath.Base(e.File))
				require.Positive(t, e.Pos.Line)
			}
		})
	}
}

// Every method of a zero Func returns, with zero arguments and with Values of a program and of its own.
func TestZeroFunc(t *testing.T) {
	f := build.New().Func("main")
	v := f.Input("x", build.FP16, 1, 2, 3, 4)
	for _, value := range []build.Value{{}, v, new(build.Func).Input("x", build.FP16, 1, 2, 3, 4)} {
		of := reflect.TypeFor[*build.Func]()
		for i := range of.NumMethod() {
			m := of.Method(i)
			args := []reflect.Value{reflect.ValueOf(new(build.Func))}
			for j := 1; j < m.Type.NumIn(); j++ {
				switch in := m.Type.In(j); {
				case in == reflect.TypeFor[build.Value]():
					args = append(args, reflect.ValueOf(value))
				case m.Type.IsVariadic() && j == m.Type.NumIn()-1:
				case in.Kind() == reflect.String:
					args = append(args, reflect.ValueOf("name").Convert(in))
				default:
					args = append(args, reflect.Zero(in))
				}
			}
			m.Func.Call(args) // a panic names the method
		}
	}
	var zero build.Func
	zero.Output("y", zero.Relu(zero.Input("x", build.FP16, 1)))
	_, err := build.New().Program()
	require.ErrorContains(t, err, "the program has no function")
}
