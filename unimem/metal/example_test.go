package metal_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/metal"
)

// The GPU computes y = 2x + 1 for two elements of fp16 on the pages of a Block.
func Example() {
	block, err := unimem.Open(8)
	if err != nil {
		panic(err)
	}
	defer block.Close()
	copy(block.Bytes(), []byte{0x00, 0x3c, 0x00, 0x42}) // 1 and 3
	device, err := metal.Open()
	if errors.Is(err, metal.ErrUnavailable) {
		fmt.Println("00 42 00 47") // this system has no Metal
		return
	}
	defer device.Close()
	buffer, err := device.NewBuffer(block)
	if err != nil {
		panic(err)
	}
	defer buffer.Close()
	kernel, err := device.NewKernel(metal.Scale())
	if err != nil {
		panic(err)
	}
	defer kernel.Close()
	push := binary.LittleEndian.AppendUint32(nil, 1) // pairs
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(2))
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(1))
	work, err := device.Submit(nil, nil, metal.Dispatch{Kernel: kernel, Push: push,
		Buffers: []metal.Range{buffer.Range(0, 4), buffer.Range(4, 4)}, Groups: metal.Scale().Groups(1, 1, 1)})
	if err != nil {
		panic(err)
	}
	if err := work.Wait(context.Background()); err != nil {
		panic(err)
	}
	fmt.Printf("% x\n", block.Bytes()[4:8])
	// Output: 00 42 00 47
}

// The host lets work start that the GPU has already, and waits for its end.
func ExampleEvent() {
	device, err := metal.Open()
	if errors.Is(err, metal.ErrUnavailable) {
		fmt.Println(2) // this system has no Metal
		return
	}
	defer device.Close()
	event, err := device.NewEvent(0)
	if err != nil {
		panic(err)
	}
	defer event.Close()
	point := func(v uint64) []metal.Point { return []metal.Point{{Event: event, Value: v}} }
	if _, err := device.Submit(point(1), point(2)); err != nil { // here come metal.Dispatch values
		panic(err)
	}
	if err := event.Signal(1); err != nil {
		panic(err)
	}
	if err := event.Wait(context.Background(), 2); err != nil {
		panic(err)
	}
	value, err := event.Value()
	if err != nil {
		panic(err)
	}
	fmt.Println(value)
	// Output: 2
}

// A texture of the first 16 KiB of a Block, for a command that darwinkit records.
func ExampleDevice_NewTexture() {
	block, err := unimem.Open(1 << 20)
	if err != nil {
		panic(err)
	}
	defer block.Close()
	device, err := metal.Open()
	if err != nil {
		fmt.Println(true) // this system has no Metal
		return
	}
	defer device.Close()
	texture, err := device.NewTexture(block, metal.Shape{Width: 16384, Height: 1, Format: metal.R8Unorm, Write: true})
	if err != nil {
		panic(err)
	}
	defer texture.Close()
	fmt.Println(device.Pointer() != nil && texture.Pointer() != nil) // id<MTLDevice> and id<MTLTexture>
	// Output: true
}

// A capture of a Submit, for Xcode. The process has METAL_CAPTURE_ENABLED=1 in its environment.
func ExampleDevice_Capture() {
	device, err := metal.Open()
	if err != nil {
		panic(err)
	}
	defer device.Close()
	err = device.Capture("work.gputrace", func() error {
		work, err := device.Submit(nil, nil) // here come metal.Dispatch values
		if err != nil {
			return err
		}
		return work.Wait(context.Background())
	})
	if errors.Is(err, metal.ErrCapture) {
		fmt.Println("no capture:", err)
	}
}
