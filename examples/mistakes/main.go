// Command mistakes makes the mistakes of docs/TUTORIAL.md and prints the errors.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// wrong has weights for 32 channels and an input of 64.
func wrong() (*build.Program, error) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 64)
	w := f.Weight("w", make([]float32, 32*32), 32, 32, 1, 1)
	f.Output("y", f.Conv(x, w))
	return b.Program()
}

// text has a wrong argument and a wrong result type.
const text = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 32]> a = mul(x = x, z = x)[name = string("a")];
        tensor<fp16, [1, 32, 1, 32]> y = add(x = x, y = x)[name = string("y")];
    } -> (y);
}`

// half has no mistake.
const half = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        fp16 half = const()[name = string("half"), val = fp16(0.5)];
        tensor<fp16, [1, 64, 1, 32]> y = mul(x = x, y = half)[name = string("y")];
    } -> (y);
}`

func main() {
	_, err := wrong()
	var faults mil.ErrorList // each with its place
	expect("built", err, errors.As(err, &faults))

	ctx := context.Background()
	device, err := engine.Open(ctx, engine.Auto)
	check(err)
	defer device.Close()
	_, err = device.Compile(ctx, ane.Source{File: "text.mil", Text: []byte(text)})
	expect("compiled", err, errors.Is(err, ane.ErrCompile))

	model, err := device.Compile(ctx, ane.Source{File: "half.mil", Text: []byte(half)})
	check(err)
	defer model.Close(ctx)
	request, err := model.NewRequest(ctx)
	check(err)
	defer request.Close()
	_, err = request.Input("x").WriteFloat32(make([]float32, 64))
	expect("written", err, errors.Is(err, ane.ErrLength))
	_, err = request.Output("z").Float32s()
	expect("read", err, errors.Is(err, ane.ErrName))
}

// expect prints an error and checks its kind.
func expect(call string, err error, kind bool) {
	fmt.Printf("not %s: %v\n", call, err)
	if !kind {
		log.Fatal("another error than expected")
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
