// Command convolution runs a 1x1 convolution with weights.
package main

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

func main() {
	ctx, b := context.Background(), build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 4)
	f.Output("y", f.Conv(x, f.Weight("w", []float32{2, 3}, 1, 2, 1, 1)))
	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: ane.Must(b.Program())}))
	defer model.Close(ctx)
	r := ane.Must(model.NewRequest(ctx)) // allocates its surfaces
	defer r.Close()
	ane.Must(r.Input("x").WriteFloat32([]float32{1, 2, 3, 4, 10, 20, 30, 40})) // writes into the shared page
	ane.Must(r.Evaluate(ctx))
	println(int(ane.Must(r.Output("y").Float32s())[0])) // 2*1 + 3*10 = 32
}
