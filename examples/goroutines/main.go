// Command goroutines shares four requests of one model among 16 goroutines by a pool.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

const goroutines, requests, runs, width = 16, 4, 50, 32

func main() {
	ctx := context.Background()
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, width)
	f.Output("y", f.Add(f.Mul(x, f.Scalar(2)), f.Scalar(1)))
	p := ane.Must(b.Program())

	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	defer model.Close(ctx)
	// One goroutine at a time may use a request. Four requests have four sets of surfaces,
	// allocated once; Get waits while all four are lent.
	pool := ane.Must(model.NewPool(ctx, requests))
	defer pool.Close()

	faults := make([]error, goroutines) // each goroutine has its own
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range runs {
				if err := double(ctx, pool, float32(g*runs+i)); err != nil {
					faults[g] = err
					return
				}
			}
		})
	}
	all.Wait()
	check(errors.Join(faults...))
	fmt.Printf("%d goroutines, %d requests, %d right results\n", goroutines, requests, goroutines*runs)
}

// double borrows a request, computes 2v+1 on the engine, and returns the request.
func double(ctx context.Context, pool *ane.Pool, v float32) (err error) {
	r, err := pool.Get(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Put(r)) }()
	// The tensors have the values of the last borrower, so set every element that is used.
	for i := range width {
		if err := r.Input("x").Set(v, 0, 63, 0, i); err != nil {
			return err
		}
	}
	if _, err := r.Evaluate(ctx); err != nil {
		return err
	}
	for i := range width {
		if got, err := r.Output("y").At(0, 63, 0, i); err != nil || got != 2*v+1 {
			return errors.Join(err, fmt.Errorf("%v became %v", v, got))
		}
	}
	return nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // status 1
	}
}
