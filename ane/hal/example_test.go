package hal_test

import (
	"context"
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
)

// A batch of commands between a wait and a signal.
func Example() {
	ctx := context.Background()
	e := ane.Must(engine.Open(ctx, engine.Soft))
	defer e.Close()
	device := ane.Must(hal.NewDevice(e))
	defer device.Close(ctx)

	buffer := ane.Must(device.NewBuffer(16))
	commands := ane.Must(device.NewCommandBuffer(hal.OneShot))
	commands.Fill(buffer.Range(0, 8), []byte("ab"))
	commands.Copy(buffer.Range(8, 8), buffer.Range(0, 8)) // no Barrier is needed
	commands.Update(buffer.Range(3, 2), []byte("--"))
	if err := commands.End(); err != nil {
		log.Fatal(err) // names each refused command
	}

	timeline := hal.NewSemaphore(0)
	start := []hal.Point{{Semaphore: timeline, Value: 1}}
	end := []hal.Point{{Semaphore: timeline, Value: 2}}
	if err := device.Queue().Execute(ctx, start, end, commands); err != nil { // returns at once
		log.Fatal(err)
	}
	if err := timeline.Signal(1); err != nil {
		log.Fatal(err)
	}
	if err := timeline.Wait(ctx, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", buffer.Bytes())
	// Output: aba--bababababab
}

// Memory that exists between two points of a timeline, for one program after the other.
func ExampleQueue_Alloca() {
	ctx := context.Background()
	e := ane.Must(engine.Open(ctx, engine.Soft))
	defer e.Close()
	device := ane.Must(hal.NewDevice(e))
	defer device.Close(ctx)
	queue, timeline := device.Queue(), hal.NewSemaphore(0)
	at := func(v uint64) []hal.Point { return []hal.Point{{Semaphore: timeline, Value: v}} }

	between := ane.Must(queue.Alloca(ctx, at(1), at(2), 4))
	result := ane.Must(device.NewBuffer(4))
	commands := ane.Must(device.NewCommandBuffer(hal.OneShot))
	commands.Fill(between.Range(0, 4), []byte("x")) // recorded before the memory is there
	commands.Copy(result.Range(0, 4), between.Range(0, 4))
	if err := commands.End(); err != nil {
		log.Fatal(err)
	}
	for _, err := range []error{
		queue.Dealloca(ctx, at(3), at(4), between), // in any order
		queue.Execute(ctx, at(2), at(3), commands),
		timeline.Signal(1),
		timeline.Wait(ctx, 4),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%s %v\n", result.Bytes(), between.Bytes() == nil)
	// Output: xxxx true
}

// A function of the host between two submissions.
func ExampleSemaphore_OnReach() {
	timeline, done := hal.NewSemaphore(0), make(chan error)
	timeline.OnReach(3, func(err error) { done <- err })
	if err := timeline.Signal(5); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-done)
	fmt.Println(timeline.Signal(4))
	// Output:
	// <nil>
	// hal: signal: value is below that of the semaphore: 4 after 5; signal values that grow
}
