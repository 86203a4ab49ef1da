package build_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/unimem/safetensors"
)

// The weight of a program is a tensor of a safetensors file.
func ExampleTensor() {
	dir, err := os.MkdirTemp("", "build")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	w, err := safetensors.Create(path, nil)
	check(err)
	defer w.Abort()
	check(w.Add("layers.0.scale", safetensors.F16, []int{1}, []byte{0, 0x42})) // 3
	check(w.Close())

	file, err := safetensors.Open(path)
	check(err)
	defer file.Close()
	scale, err := file.Tensor("layers.0.scale")
	check(err)
	b := build.New()
	f := b.Func("main")
	f.Output("y", f.Mul(f.Input("x", build.FP16, 1, 32), f.WeightOf(scale)))
	p, err := b.Program()
	check(err)

	ctx := context.Background()
	device, err := engine.Open(ctx, engine.Soft)
	check(err)
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{Program: p})
	check(err)
	defer model.Close(ctx)
	r, err := model.NewRequest(ctx)
	check(err)
	defer r.Close()
	check(r.Input("x").Set(2, 0, 0))
	_, err = r.Evaluate(ctx)
	check(err)
	y, err := r.Output("y").At(0, 0)
	check(err)
	fmt.Println(y)
	// Output: 6
}
