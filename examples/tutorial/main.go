// Command tutorial is the program of docs/TUTORIAL.md: a convolution with weights, from Go
// values to its result and its receipt.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

// blur returns a program that blurs a picture of 32x32 pixels.
func blur() (*build.Program, error) {
	weights := []float32{ // of 3x3 pixels; they add up to 1
		1. / 16, 2. / 16, 1. / 16,
		2. / 16, 4. / 16, 2. / 16,
		1. / 16, 2. / 16, 1. / 16,
	}
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 1, 32, 32) // picture, channel, row, column
	w := f.Weight("w", weights, 1, 1, 3, 3)     // output, input, row, column
	f.Output("y", f.Conv(x, w, build.Same))     // a result as large as x
	return b.Program()
}

func main() {
	p, err := blur()
	check(err)
	ctx := context.Background()

	device, err := engine.Open(ctx, engine.Auto)
	check(err)
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{Program: p})
	check(err)
	defer model.Close(ctx)

	request, err := model.NewRequest(ctx)
	check(err)
	defer request.Close()
	white := make([]float32, 32*32)
	for i := range white {
		white[i] = 1
	}
	_, err = request.Input("x").WriteFloat32(white)
	check(err)

	result, err := request.Evaluate(ctx)
	check(err)
	y, err := request.Output("y").Float32s()
	check(err)
	fmt.Println("corner", y[0], "edge", y[1], "inside", y[32+1])
	if y[0] != 0.5625 || y[1] != 0.75 || y[32+1] != 1 {
		log.Fatal("wrong: corner, edge and inside are 0.5625, 0.75 and 1")
	}

	receipt := result.Receipt
	fmt.Println("engine  ", receipt.Engine)
	fmt.Println("chip    ", receipt.Chip)
	fmt.Println("system  ", receipt.OSBuild)
	fmt.Println("numerics", receipt.Numerics)
	fmt.Println("sharing ", receipt.Sharing)
	fmt.Println("because ", receipt.Fallback)
}

// check ends the program with status 1 on an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
