package weights_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// A weight that is an input is bound where it lies in its file.
func ExampleRequest() {
	ctx := context.Background()
	dir := ane.Must(os.MkdirTemp("", "weights"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	w := ane.Must(safetensors.Create(path, nil, safetensors.Align(unimem.PageSize)))
	defer w.Abort()
	if err := w.Add("layer.bias", safetensors.F16, []int{1, 32}, make([]byte, 64)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	f := ane.Must(safetensors.Open(path))
	defer f.Close()
	b := build.New()
	main := b.Func("main")
	x := main.Input("x", build.FP16, 1, 32)
	main.Output("y", main.Add(x, main.Input("bias", build.FP16, 1, 32)))
	d := ane.Must(engine.Open(ctx, engine.Soft))
	defer d.Close()
	m := ane.Must(d.Compile(ctx, ane.Source{Program: ane.Must(b.Program())}))
	defer m.Close(ctx)

	r := ane.Must(weights.Request(ctx, d, m, f, func(input string) string {
		return map[string]string{"bias": "layer.bias"}[input]
	}))
	defer r.Close()
	for _, p := range r.Placements() {
		fmt.Println(p.Input, p.Binding)
	}
	fmt.Println("bytes moved:", r.Moved())
	// Output:
	// x open
	// bias bound
	// bytes moved: 0
}
