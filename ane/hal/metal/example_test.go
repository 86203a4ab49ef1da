package metal_test

import (
	"context"
	"fmt"

	"github.com/anekit/anekit/ane/hal"
	bridge "github.com/anekit/anekit/ane/hal/metal"
	"github.com/anekit/anekit/unimem/metal"
)

// A submission of the GPU follows a point of a timeline, and reaches the next one.
func ExampleQueue() {
	ctx := context.Background()
	device, err := metal.Open()
	if err != nil {
		fmt.Println("reached 2") // this system has no Metal
		return
	}
	defer device.Close()
	queue := bridge.NewQueue(device)
	defer queue.Close(ctx)
	timeline := hal.NewSemaphore(0)
	point := func(v uint64) []hal.Point { return []hal.Point{{Semaphore: timeline, Value: v}} }
	if err := queue.Execute(ctx, point(1), point(2)); err != nil { // here come metal.Dispatch values
		panic(err)
	}
	if err := timeline.Signal(1); err != nil {
		panic(err)
	}
	if err := timeline.Wait(ctx, 2); err != nil {
		panic(err)
	}
	fmt.Println("reached 2")
	// Output: reached 2
}

// The GPU has its work before the host reaches the point that the work waits for.
func ExampleJoin() {
	device, err := metal.Open()
	if err != nil {
		fmt.Println("reached 2") // this system has no Metal
		return
	}
	defer device.Close()
	timeline := hal.NewSemaphore(0)
	pair, err := bridge.Join(device, timeline)
	if err != nil {
		panic(err)
	}
	defer pair.Close()
	point := func(v uint64) []metal.Point { return []metal.Point{{Event: pair.Event(), Value: v}} }
	if _, err := device.Submit(point(1), point(2)); err != nil { // here come metal.Dispatch values
		panic(err)
	}
	if err := timeline.Signal(1); err != nil {
		panic(err)
	}
	if err := timeline.Wait(context.Background(), 2); err != nil {
		panic(err)
	}
	fmt.Println("reached 2")
	// Output: reached 2
}
