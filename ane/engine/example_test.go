package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

var text = []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        fp16 half = const()[name = string("half"), val = fp16(0x1p-1)];
        tensor<fp16, [1, 64, 1, 32]> y = mul(x = x, y = half)[name = string("y")];
    } -> (y);
}`)

// From a program to a result, with memory allocated by the request.
func Example() {
	ctx := context.Background()
	device, err := engine.Open(ctx, engine.Auto) // Apple's engine if available
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{File: "half.mil", Text: text})
	if err != nil {
		log.Fatal(err) // half.mil:LINE:COL: what is wrong; how to fix it
	}
	defer model.Close(ctx)
	request, err := model.NewRequest(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()

	x, y := request.Input("x"), request.Output("y")
	if err := x.Set(3, 0, 63, 0, 31); err != nil { // writes into the shared page
		log.Fatal(err)
	}
	if _, err := request.Evaluate(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y.At(0, 63, 0, 31))
	// Output: 1.5 <nil>
}

// The lower level: the caller's memory, tensors on it, and a request that binds them.
func Example_memory() {
	if err := halve(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 1.5
}

func halve(ctx context.Context) error {
	device, err := engine.Open(ctx, engine.Auto)
	if err != nil {
		return err
	}
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{File: "half.mil", Text: text})
	if err != nil {
		return err
	}
	defer model.Close(ctx)
	if err := model.Load(ctx); err != nil {
		return err
	}

	grid, err := unimem.NewGrid(model.Inputs()[0].Bytes(), 2, unimem.SurfacePerCell(), unimem.StaleOnClose())
	if err != nil {
		return err
	}
	defer grid.Close()
	x, err := tensor(grid, model.Inputs()[0])
	if err != nil {
		return err
	}
	y, err := tensor(grid, model.Outputs()[0])
	if err != nil {
		return err
	}
	request, err := model.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": y})
	if err != nil {
		return err
	}
	defer request.Close()

	if err := x.Set(3, 0, 63, 0, 31); err != nil {
		return err
	}
	if _, err := request.Evaluate(ctx); err != nil {
		return err
	}
	v, err := y.At(0, 63, 0, 31)
	fmt.Println(v)
	return err
}

// tensor makes a tensor on a new cell.
func tensor(grid *unimem.Grid, l ane.Layout) (*ane.Tensor, error) {
	cell, err := grid.Take()
	if err != nil {
		return nil, err
	}
	return ane.OnCell(cell, l)
}

// RequireApple refuses every other engine.
func ExampleOption() {
	_, err := engine.Open(context.Background(), engine.Soft, engine.RequireApple())
	var e *ane.Error
	fmt.Println(errors.As(err, &e), e.Detail)
	fmt.Println(e.Hint)
	device, err := engine.Open(context.Background(), engine.Soft, engine.AllowOffsets())
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	fmt.Println(device.Info().Offsets)
	// Output:
	// true the software engine in this process is not Apple's engine
	// open apple, or remove RequireApple
	// true
}

func ExampleStatus() {
	for _, s := range engine.Probe() {
		if s.Name == engine.Soft {
			fmt.Println(s.What, s.Available)
		}
	}
	// Output: software engine in this process true
}

// A program that an M1 does not take fails on the software engine too.
func ExampleEmulate() {
	device, err := engine.Open(context.Background(), engine.Soft, engine.Emulate(chip.M1))
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	_, err = device.Compile(context.Background(), ane.Source{File: "sin.mil", Text: []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 64]> x) {
        tensor<fp16, [1, 64, 1, 64]> y = sin(x = x)[name = string("y")];
    } -> (y);
}`)})
	var e *ane.Error
	if errors.As(err, &e) {
		fmt.Println(device.Receipt().Chip, e.Domain, e.Code)
	}
	var faults mil.ErrorList
	if errors.As(err, &faults) {
		fmt.Println(faults[0])
	}
	// Output:
	// h13, emulated com.apple.appleneuralengine.compiler 1
	// sin.mil:4:42: sin [trigonometry]; compute it on the host, or as a polynomial
}

// A logger of package log/slog is a Log.
func ExampleLog() {
	var lines engine.Log = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != slog.MessageKey && a.Key != "engine" {
				return slog.Attr{} // of this machine and time
			}
			return a
		}}))
	device, err := engine.Open(context.Background(), engine.Soft, engine.Logger(lines))
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	// Output: msg="engine opened" engine=soft
}
