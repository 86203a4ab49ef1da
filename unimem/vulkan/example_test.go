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
