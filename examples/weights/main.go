// Command weights replaces the weights of a model without compiling its program again.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

const channels, width = 64, 32

func main() {
	ctx := context.Background()
	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()

	p := program(1)
	first := ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	defer first.Close(ctx)
	fmt.Println("compiled: x times", times(ctx, first))

	for _, factor := range []float32{2, 3} {
		second := replaced(ctx, device, first, program(factor))
		fmt.Println("replaced: x times", times(ctx, second))
		if got := times(ctx, second); got != factor {
			log.Fatalf("wrong: %v, not %v", got, factor)
		}
		check(second.Close(ctx))
	}
	// The first model still has its own weights.
	if got := times(ctx, first); got != 1 {
		log.Fatalf("wrong: the first model multiplies by %v", got)
	}
	fmt.Println("the first model: x times", times(ctx, first))
}

// replaced returns a model of the program of first with the weights of p. Both programs have
// the same text, and weight files with the same names and sizes.
func replaced(ctx context.Context, device *ane.Device, first *ane.Model, p *build.Program) *ane.Model {
	model, err := first.WithWeights(ctx, p.Weights)
	if errors.Is(err, errors.ErrUnsupported) {
		// Apple's engine compiles weights into the program: compile it again.
		return ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	}
	return ane.Must(model, err)
}

// program multiplies every channel by factor: a 1x1 convolution with a diagonal matrix.
func program(factor float32) *build.Program {
	diagonal := make([]float32, channels*channels)
	for i := range channels {
		diagonal[i*channels+i] = factor
	}
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, channels, 1, width)
	f.Output("y", f.Conv(x, f.Weight("w", diagonal, channels, channels, 1, 1)))
	return ane.Must(b.Program())
}

// times evaluates the model on 1 and returns the result, the factor.
func times(ctx context.Context, model *ane.Model) float32 {
	r := ane.Must(model.NewRequest(ctx))
	defer r.Close()
	check(r.Input("x").Set(1, 0, 5, 0, 7))
	ane.Must(r.Evaluate(ctx))
	return ane.Must(r.Output("y").At(0, 5, 0, 7))
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // status 1
	}
}
