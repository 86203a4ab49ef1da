package coreml_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/coreml"
)

// From a package to a result.
func ExampleOpen() {
	ctx := context.Background()
	m := ane.Must(coreml.Open("testdata/scale.mlpackage")) // a .mlmodelc, a .mlmodel or a MIL text as well
	device := ane.Must(engine.Open(ctx, "soft"))
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: m})) // with the weights of the package
	defer model.Close(ctx)
	r := ane.Must(model.NewRequest(ctx))
	defer r.Close()
	ane.Must(r.Input("x").WriteFloat32([]float32{1, 2, 3, 4, 10, 20, 30, 40}))
	ane.Must(r.Evaluate(ctx))
	fmt.Println(ane.Must(r.Output("y").Float32s()))
	// Output: [2 4 6 8 30 60 90 120]
}

// What a model takes and gives.
func ExampleModel() {
	m := ane.Must(coreml.Open("testdata/scale.mlpackage"))
	f := m.Description.Function("") // the one that runs where none is named
	for _, in := range f.Inputs {
		fmt.Println("takes", in.Name, in.Kind, in.DType, in.Shape)
	}
	for _, out := range f.Outputs {
		fmt.Println("gives", out.Name, out.Kind, out.DType, out.Shape)
	}
	fmt.Println("weights in", m.Dir())
	// Output:
	// takes x multiArrayType fp16 [1 2 1 4]
	// gives y multiArrayType fp16 [1 2 1 4]
	// weights in testdata/scale.mlpackage/Data/com.apple.CoreML
}

var update = flag.Bool("update", false, "write the package of the examples")

// The package of the examples is what is written here. -update writes it.
func TestExamplePackage(t *testing.T) {
	const dir = "testdata/scale.mlpackage/Data/com.apple.CoreML/"
	half := tensor(pFP16, 1, 2, 1, 1)
	array := msg(5, msg(1, packed(1, 2, 1, 4)), num(2, 65552))
	model := program(7, []proto{feature(1, "x", array), feature(10, "y", array)},
		function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1, 2, 1, 4))},
			constant("w", half, blobValue(half, blob.WeightFile, 64)),
			op("mul", "y", tensor(pFP16, 1, 2, 1, 4), arg("x", "x"), arg("y", "w")), str(2, "y")))
	var w blob.Writer
	_, err := w.AddFloat32As16([]float32{2, 3})
	require.NoError(t, err)
	for name, want := range map[string][]byte{"model.mlmodel": model, "weights/weight.bin": w.Bytes()} {
		if *update {
			require.NoError(t, os.MkdirAll(dir+"weights", 0o777))
			require.NoError(t, os.WriteFile(dir+name, want, 0o666))
		}
		data, err := os.ReadFile(dir + name)
		require.NoError(t, err)
		require.Equal(t, want, data, name)
	}
}
