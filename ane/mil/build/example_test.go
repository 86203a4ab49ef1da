package build_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"testing/fstest"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
)

// A 1x1 convolution with weights, from Go values to its result.
func Example() {
	ctx := context.Background()
	weights := make([]float32, 32*64)
	weights[0] = 0.5 // of input 0 for output 0

	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 64)
	w := f.Weight("w", weights, 32, 64, 1, 1)
	f.Output("y", f.Conv(x, w))
	p, err := b.Program()
	check(err)

	device, err := engine.Open(ctx, engine.Soft)
	check(err)
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{Program: p})
	check(err)
	defer model.Close(ctx)
	r, err := model.NewRequest(ctx)
	check(err)
	defer r.Close()
	check(r.Input("x").Set(3, 0, 0, 0, 63))
	_, err = r.Evaluate(ctx)
	check(err)
	y, err := r.Output("y").At(0, 0, 0, 63)
	check(err)
	fmt.Println(r.Output("y").Layout())
	fmt.Println(y)
	// Output:
	// y fp16[1 32 1 64] row 128 plane 128 batch 4096
	// 1.5
}

// check stops the program on an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleBuilder() {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	squares := f.ReduceMean(f.Mul(x, x), []int{1}, build.KeepDims(true))
	f.Output("y", f.Mul(x, f.Rsqrt(squares, 1e-5)))
	p, err := b.Program()
	check(err)
	p.Attrs = nil // buildInfo is long
	fmt.Print(string(p.Text()))
	// Output:
	// program(1.3)
	// {
	//     func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
	//         tensor<fp16, [1, 64, 1, 32]> mul_0 = mul(x = x, y = x)[name = string("mul_0")];
	//         tensor<int32, [1]> axes = const()[name = string("axes"), val = tensor<int32, [1]>([1])];
	//         bool keep_dims = const()[name = string("keep_dims"), val = bool(true)];
	//         tensor<fp16, [1, 1, 1, 32]> reduce_mean_0 = reduce_mean(axes = axes, keep_dims = keep_dims, x = mul_0)[name = string("reduce_mean_0")];
	//         fp16 epsilon = const()[name = string("epsilon"), val = fp16(0x1.4f8b588e368f1p-17)];
	//         tensor<fp16, [1, 1, 1, 32]> rsqrt_0 = rsqrt(epsilon = epsilon, x = reduce_mean_0)[name = string("rsqrt_0")];
	//         tensor<fp16, [1, 64, 1, 32]> y = mul(x = x, y = rsqrt_0)[name = string("y")];
	//     } -> (y);
	// }
}

// Gigabytes of float32 on disk become fp16 on their way into the weight file.
func ExampleFunc_WeightFrom() {
	tree := fstest.MapFS{"w.f32": {Data: make([]byte, 4*32*64)}} // or os.DirFS, an embed.FS ..
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 64)
	w := f.WeightFrom("w", mil.TensorOf(mil.FP16, 32, 64, 1, 1), func() (io.ReadCloser, error) {
		r, err := tree.Open("w.f32")
		return blob.Float32As16(r), err
	})
	f.Output("y", f.Conv(x, w))
	p, err := b.Program()
	check(err)
	file, err := p.Weights.ReadFile(blob.WeightFile) // or p.WriteDir(dir)
	fmt.Println(len(file), err)
	// Output: 4224 <nil>
}

// Options are values of types named after the arguments.
func ExampleFunc_Conv() {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 8, 32, 32)
	depth := f.Weight("depth", make([]float32, 8*3*3), 8, 1, 3, 3)
	y := f.Conv(x, depth, build.Groups(8), build.Same, build.Strides{2, 2})
	fmt.Println(y.Shape())
	f.Output("y", y)
	p, err := b.Program()
	check(err)
	for line := range strings.Lines(string(p.Text())) {
		if strings.Contains(line, "= conv(") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// [1 8 16 16]
	// tensor<fp16, [1, 8, 16, 16]> y = conv(dilations = dilations, groups = groups, pad = pad, pad_type = pad_type, strides = strides, weight = depth, x = x)[name = string("y")];
}
