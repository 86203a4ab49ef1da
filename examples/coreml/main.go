// Command coreml runs a Core ML model: the one of its argument, a .mlpackage, .mlmodelc, .mlmodel or MIL text, or a
// small package of its own. Each input is filled with 0, 1, 2 and so on.
package main

import (
	"context"
	"embed"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/coreml"
)

//go:embed scale.mlpackage
var own embed.FS

func main() {
	path, done := operand()
	defer done()
	ctx := context.Background()
	device, err := engine.Open(ctx, engine.Auto)
	check(err)
	defer device.Close()

	m, err := coreml.Open(path)
	check(err)
	for _, in := range m.Description.Function("").Inputs {
		fmt.Println("takes", in.Name, in.Kind, in.Shape)
	}
	model, err := device.Compile(ctx, ane.Source{Program: m}) // with its weight files
	check(err)
	defer model.Close(ctx)
	request, err := model.NewRequest(ctx)
	check(err)
	defer request.Close()

	for _, l := range model.Inputs() {
		values := make([]float32, l.Elements())
		for i := range values {
			values[i] = float32(i)
		}
		_, err := request.Input(l.Name).WriteFloat32(values)
		check(err)
	}
	_, err = request.Evaluate(ctx)
	check(err)
	for _, l := range model.Outputs() {
		values, err := request.Output(l.Name).Float32s()
		check(err)
		fmt.Println("gives", l.Name, values[:min(len(values), 8)])
	}
}

// operand returns the path of the model. The caller calls done at last.
func operand() (path string, done func()) {
	if len(os.Args) > 1 {
		return os.Args[1], func() {}
	}
	dir, err := os.MkdirTemp("", "coreml")
	check(err)
	check(os.CopyFS(dir, own))
	return filepath.Join(dir, "scale.mlpackage"), func() { _ = os.RemoveAll(dir) } // the system removes a rest
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
