// Command convolution runs a 1x1 convolution with weights.
package main

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

func main() {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 64)
	f.Output("y", f.Conv(x, f.Weight("w", make([]float32, 32*64), 32, 64, 1, 1)))
	p := must(b.Program())

	ctx := context.Background()
	device := must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	model := must(device.Compile(ctx, ane.Source{Program: p.Program, Weights: p.Weights}))
	defer model.Close(ctx)
	r := must(model.NewRequest(ctx)) // allocates its surfaces
	defer r.Close()
	must(r.Input("x").WriteFloat32(make([]float32, 64*64))) // writes into the shared page
	must(r.Evaluate(ctx))
	println(len(must(r.Output("y").Float32s())))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
