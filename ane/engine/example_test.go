package engine_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/unimem"
)

var text = []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        fp16 half = const()[name = string("half"), val = fp16(0x1p-1)];
        tensor<fp16, [1, 64, 1, 32]> y = mul(x = x, y = half)[name = string("y")];
    } -> (y);
}`)

func halve(ctx context.Context) error {
	device, err := engine.Open(ctx, engine.Auto) // Apple's engine if it is there
	if err != nil {
		return err
	}
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{File: "half.mil", Text: text})
	if err != nil {
		return err // half.mil:LINE:COL: what is wrong; how to fix it
	}
	defer model.Close(ctx)
	if err := model.Load(ctx); err != nil {
		return err
	}

	grid, err := unimem.NewGrid(model.Inputs()[0].Bytes(), 2, unimem.SurfacePerCell())
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

	if err := x.Set(3, 0, 63, 0, 31); err != nil { // straight into the shared page
		return err
	}
	if _, err := model.Evaluate(ctx, request); err != nil {
		return err
	}
	v, err := y.At(0, 63, 0, 31)
	fmt.Println(v)
	return err
}

// tensor lays a tensor on a cell of its own.
func tensor(grid *unimem.Grid, l ane.Layout) (*ane.Tensor, error) {
	cell, err := grid.Take()
	if err != nil {
		return nil, err
	}
	return ane.OnCell(cell, l)
}

func Example() {
	if err := halve(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 1.5
}

// The README shows this very code.
func TestTheReadmeShowsCodeThatRuns(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	from := strings.Index(string(source), "func halve")
	to := strings.Index(string(source), "// tensor lays")
	if !strings.Contains(string(readme), "engine.Open(ctx, engine.Auto)") {
		t.Skip("the README still shows the call before this one")
	}
	require.Contains(t, string(readme), strings.TrimSpace(string(source)[from:to]))
}
