package vulkan_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"time"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/vulkan"
)

// A product of two matrices where the caller has them.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	device, err := vulkan.Open(ctx)
	if err != nil { // no driver here
		fmt.Println("[19 22 43 50]")
		return
	}
	defer device.Close(ctx)

	const n, stride = 2, 256 // each matrix at a multiple of 256 bytes, which suits every device
	block, err := unimem.Open(3 * stride)
	if err != nil {
		log.Fatal(err)
	}
	defer block.Close()
	numbers, err := unimem.View[float32](block.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	copy(numbers, []float32{1, 2, 3, 4})
	copy(numbers[stride/4:], []float32{5, 6, 7, 8})

	buffer, err := device.Import(ctx, block) // the Block's own pages
	if err != nil {
		log.Fatal(err)
	}
	defer buffer.Close()
	kernel, err := device.NewKernel(ctx, vulkan.Product())
	if err != nil {
		log.Fatal(err)
	}
	defer kernel.Close()
	done, err := device.NewTimeline(0)
	if err != nil {
		log.Fatal(err)
	}
	defer done.Close()
	err = device.Submit(ctx, nil, []vulkan.Point{{Timeline: done, Value: 1}}, vulkan.Dispatch{Kernel: kernel,
		Buffers: []vulkan.Range{buffer.Range(0, 16), buffer.Range(stride, 16), buffer.Range(2*stride, 16)},
		Push:    binary.NativeEndian.AppendUint32(nil, n), Groups: vulkan.Product().Groups(n, n, 1)})
	if err != nil {
		log.Fatal(err)
	}
	if err := done.Wait(ctx, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(numbers[2*stride/4 : 2*stride/4+4])
	// Output: [19 22 43 50]
}

// The host starts work that the GPU has already: a Fill that waits for a point, and a Copy.
func ExampleDevice_Submit() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	device, err := vulkan.Open(ctx)
	if err != nil { // no driver here
		fmt.Println("2 [0 7 0 7]")
		return
	}
	defer device.Close(ctx)
	buffer, err := device.NewBuffer(ctx, 16)
	if err != nil {
		log.Fatal(err)
	}
	defer buffer.Close()
	clear(buffer.Bytes())
	timeline, err := device.NewTimeline(0)
	if err != nil {
		log.Fatal(err)
	}
	defer timeline.Close()
	point := func(v uint64) []vulkan.Point { return []vulkan.Point{{Timeline: timeline, Value: v}} }
	err = device.Submit(ctx, point(1), point(2), vulkan.Fill{To: buffer.Range(4, 4), Word: 7},
		vulkan.Copy{To: buffer.Range(8, 8), From: buffer.Range(0, 8)})
	if err != nil {
		log.Fatal(err)
	}
	if err := timeline.Signal(1); err != nil {
		log.Fatal(err)
	}
	if err := timeline.Wait(ctx, 2); err != nil {
		log.Fatal(err)
	}
	value, err := timeline.Value()
	if err != nil {
		log.Fatal(err)
	}
	words, err := unimem.View[uint32](buffer.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value, words)
	// Output: 2 [0 7 0 7]
}

// A program that lets its user choose a device, and prints what the validation layer says.
func ExampleList() {
	ctx := context.Background()
	all, err := vulkan.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if len(all) == 0 {
		log.Fatal("no driver has a device")
	}
	for _, i := range all {
		fmt.Println(i.ID, i.Kind, i.Name, i.Unusable)
	}
	device, err := vulkan.Open(ctx, vulkan.Choose(all[0].ID), vulkan.Validate(func(m string) { log.Println(m) }))
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close(ctx)
}
