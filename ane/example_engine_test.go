package ane_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
)

// watched wraps an engine and prints what is compiled and evaluated.
type watched struct{ ane.Engine }

func (w watched) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	fmt.Println("compile", src.File)
	x, err := w.Engine.Compile(ctx, src)
	return watchedProgram{x}, err
}

type watchedProgram struct{ ane.Executable }

func (p watchedProgram) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := p.Executable.Prepare(in, out)
	return watchedRun{v}, err
}

type watchedRun struct{ ane.Invocation }

func (r watchedRun) Evaluate(ctx context.Context) error {
	fmt.Println("evaluate")
	return r.Invocation.Evaluate(ctx)
}

// An engine implements three interfaces: Engine, Executable and Invocation.
func ExampleEngine() {
	run(watched{soft.New()})
	// Output:
	// compile doubling.mil
	// evaluate
}

func ExampleExecutable() {
	x, err := soft.New().Compile(context.Background(), ane.Source{Text: []byte(doubling)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Inputs()[0].Name, x.Outputs()[0].Name, x.Cached())
	if err := x.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: x y false
}

func ExampleInvocation() {
	run(watched{soft.New()}) // whose Evaluate is called once
	// Output:
	// compile doubling.mil
	// evaluate
}

// run evaluates the program once.
func run(e ane.Engine) {
	ctx := context.Background()
	device, err := ane.Open(e, "")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	model, err := device.Compile(ctx, ane.Source{File: "doubling.mil", Text: []byte(doubling)})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close(ctx)
	request, err := model.NewRequest(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	if _, err := request.Evaluate(ctx); err != nil {
		log.Fatal(err)
	}
}

// A feature of only some engines is an optional interface; a Device returns
// errors.ErrUnsupported if the engine does not implement it.
func ExampleKeeper() {
	device, err := ane.Open(soft.New(), "")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	_, _, err = device.Purge(context.Background())
	fmt.Println(errors.Is(err, errors.ErrUnsupported))
	_, err = device.Counters(context.Background())
	fmt.Println(errors.Is(err, errors.ErrUnsupported))
	// Output:
	// true
	// true
}

// The software engine makes instances.
func ExampleInstancer() {
	x, err := soft.New().Compile(context.Background(), ane.Source{Text: []byte(doubling)})
	if err != nil {
		log.Fatal(err)
	}
	_, ok := x.(ane.Instancer)
	fmt.Println(ok)
	// Output: true
}

// The software engine has no queue, so its runs have no quality of service.
func ExamplePrioritizer() {
	invocation(func(v ane.Invocation) {
		_, ok := v.(ane.Prioritizer)
		fmt.Println(ok)
	})
	// Output: false
}

// invocation calls f with a prepared run.
func invocation(f func(ane.Invocation)) {
	run(shown{soft.New(), f})
}

type shown struct {
	ane.Engine
	f func(ane.Invocation)
}

func (s shown) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := s.Engine.Compile(ctx, src)
	return shownProgram{x, s.f}, err
}

type shownProgram struct {
	ane.Executable
	f func(ane.Invocation)
}

func (p shownProgram) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := p.Executable.Prepare(in, out)
	if err == nil {
		p.f(v)
	}
	return v, err
}

// counted are Weights that count calls of ReadFile.
type counted struct {
	ane.Weights
	asked int
}

func (c *counted) ReadFile(path string) ([]byte, error) {
	c.asked++
	return c.Weights.ReadFile(path)
}

// Weights are read only while the program is compiled.
func ExampleWeights() {
	p := scaled(2)
	weights := &counted{Weights: p.Weights}
	_, done := ready(ane.Source{Program: p, Weights: weights})
	defer done()
	fmt.Println(weights.asked)
	// Output: 1
}
