package ane_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

const doubling = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", "3505.4.1"}, {"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]
{
    func main<ios18>(tensor<fp16, [1, 1, 2, 3]> x) {
        tensor<fp16, [1, 1, 2, 3]> y = add(x = x, y = x)[name = string("y")];
    } -> (y);
}`

// The whole path: memory, tensors on it, a program, a run, and the result in place.
func Example() {
	ctx := context.Background()
	device, err := ane.Open(soft.New(), "")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{File: "doubling.mil", Text: []byte(doubling)})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close(ctx)
	if err := model.Load(ctx); err != nil {
		log.Fatal(err)
	}

	// One surface for each tensor, as large as the larger of the two.
	in, out := model.Inputs()[0], model.Outputs()[0]
	grid, err := unimem.NewGrid(max(in.Bytes(), out.Bytes()), 2, unimem.SurfacePerCell(), unimem.StaleOnClose())
	if err != nil {
		log.Fatal(err)
	}
	defer grid.Close()
	tensor := func(l ane.Layout) *ane.Tensor {
		cell, err := grid.Take()
		if err != nil {
			log.Fatal(err)
		}
		t, err := ane.OnCell(cell, l)
		if err != nil {
			log.Fatal(err)
		}
		return t
	}
	x, y := tensor(in), tensor(out)
	request, err := model.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": y})
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()

	copied, err := x.WriteFloat32([]float32{1, 2, 3, 4, 5, 6})
	if err != nil {
		log.Fatal(err)
	}
	result, err := model.Evaluate(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	last, err := y.At(0, 0, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in)
	fmt.Println(copied, "bytes written,", in.Bytes(), "with padding")
	fmt.Println(result.Receipt.Engine, "says", last)
	// Output:
	// x fp16[1 1 2 3] row 64 plane 128 batch 128
	// 12 bytes written, 128 with padding
	// soft says 12
}

// Inputs may be changed in place between runs of one request, because the engine reads
// the tensor's memory.
func ExampleModel_Evaluate() {
	ctx := context.Background()
	device, err := ane.Open(soft.New(), "")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{Text: []byte(doubling)})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close(ctx)
	if err := model.Load(ctx); err != nil {
		log.Fatal(err)
	}
	var tensors [2]*ane.Tensor
	for i, l := range []ane.Layout{model.Inputs()[0], model.Outputs()[0]} {
		block, err := unimem.Open(l.Bytes())
		if err != nil {
			log.Fatal(err)
		}
		defer block.Close()
		if tensors[i], err = ane.OnBlock(block, l); err != nil {
			log.Fatal(err)
		}
	}
	x, y := tensors[0], tensors[1]
	request, err := model.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": y})
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	for _, v := range []float32{0.5, 1.25, -3} {
		if err := x.Set(v, 0, 0, 1, 2); err != nil {
			log.Fatal(err)
		}
		if _, err := model.Evaluate(ctx, request); err != nil {
			log.Fatal(err)
		}
		doubled, err := y.At(0, 0, 1, 2)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(doubled)
	}
	// Output:
	// 1
	// 2.5
	// -6
}

// A fault in a program has its place.
func ExampleDevice_Compile() {
	device, err := ane.Open(soft.New(), "")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	_, err = device.Compile(context.Background(), ane.Source{File: "broken.mil",
		Text: []byte("program(1.3) {\n  func main<ios18>(tensor<fp16, [1]> x) {\n    y = 5;\n")})
	var faults mil.ErrorList
	if errors.Is(err, ane.ErrCompile) && errors.As(err, &faults) {
		fmt.Println("line", faults[0].Pos.Line)
	}
	// Output:
	// line 3
}

// A layout is computed without an engine.
func ExampleNewLayout() {
	l, err := ane.NewLayout("x", mil.FP16, 1, 4, 3, 20)
	if err != nil {
		log.Fatal(err)
	}
	at, err := l.Offset(0, 2, 1, 5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Bytes(), l.PackedBytes(), at)
	// Output:
	// 768 480 458
}
