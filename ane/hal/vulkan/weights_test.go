package vulkan_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
	gpu "github.com/anekit/anekit/unimem/vulkan"
)

// One mapped safetensors file is read in place by the GPU and by the engine, in the order of one timeline: the engine
// squares a tensor of fp16 of it, the GPU multiplies the result of an earlier turn with another tensor.
func TestMappedWeightsOnATimeline(t *testing.T) {
	ctx := t.Context()
	const outs, ins, rows = 64, 48, 2
	d := open(t)
	path := filepath.Join(t.TempDir(), "model.safetensors")
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	half := make([]byte, 2*4*8*32)
	for i := range len(half) / 2 {
		binary.NativeEndian.PutUint16(half[2*i:], uint16(fp16.FromFloat32(float32(i%9))))
	}
	weights := make([]byte, 2*outs*ins)
	for i := range outs * ins {
		binary.NativeEndian.PutUint16(weights[2*i:], uint16(fp16.FromFloat32(float32(i%13-6))))
	}
	require.NoError(t, w.Add("x", safetensors.F16, []int{1, 4, 8, 32}, half))
	require.NoError(t, w.Add("w", safetensors.F16, []int{outs, ins}, weights))
	require.NoError(t, w.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	file, err := safetensors.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	place := func(name string) (*unimem.Block, int) {
		tensor, err := file.Tensor(name)
		require.NoError(t, err)
		b, offset, err := tensor.Block()
		require.NoError(t, err)
		return b, offset
	}
	mapped, x := place("x")
	_, weightsAt := place("w")
	e, err := engine.Open(ctx, engine.Soft, engine.AllowOffsets())
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	device, err := hal.NewDevice(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, device.Close(context.Background())) }()
	program, err := device.Prepare(ctx, ane.Source{File: "square.mil", Text: []byte(square)})
	require.NoError(t, err)
	here, err := device.Import(mapped)
	require.NoError(t, err)
	there, err := d.Load(ctx, mapped)
	require.NoError(t, err)
	defer func() { require.NoError(t, there.Close()) }()
	if d.Info().Kind == "software" {
		require.True(t, there.InPlace())
		require.Zero(t, d.Copied())
	}
	own := block(t, 2*unimem.PageSize)
	ownHere, err := device.Import(own)
	require.NoError(t, err)
	ownThere, err := d.Import(ctx, own)
	require.NoError(t, err)
	defer func() { require.NoError(t, ownThere.Close()) }()

	require.Zero(t, x%ane.RowAlign, "the writer aligns")
	commands, err := device.NewCommandBuffer(hal.OneShot)
	require.NoError(t, err)
	commands.Dispatch(program, map[string]hal.Range{"x": here.Range(x, len(half))},
		map[string]hal.Range{"y": ownHere.Range(0, len(half))})
	require.NoError(t, commands.End())
	k, err := d.NewKernel(ctx, gpu.Linear())
	require.NoError(t, err)
	defer func() { require.NoError(t, k.Close()) }()
	const result = unimem.PageSize
	input, err := unimem.View[float32](own.Bytes()[result : result+4*rows*ins])
	require.NoError(t, err)
	output, err := unimem.View[float32](own.Bytes()[result+4096 : result+4096+4*rows*outs])
	require.NoError(t, err)
	for i := range input {
		input[i] = float32(i%5 - 2)
	}
	r, skipped := there.Around(weightsAt, len(weights))
	var push []byte
	for _, v := range []int{outs, ins, skipped / 2, 1} {
		push = binary.NativeEndian.AppendUint32(push, uint32(v))
	}
	multiply := gpu.Dispatch{Kernel: k, Push: push, Groups: k.Program().Groups(outs, rows, 1), Buffers: []gpu.Range{
		ownThere.Range(result, 4*rows*ins), r, ownThere.Range(result+4096, 4*rows*outs)}}
	queue, time := queueOf(t, d), hal.NewSemaphore(0)
	at := func(v uint64) []hal.Point { return []hal.Point{{Semaphore: time, Value: v}} }
	require.NoError(t, device.Queue().Execute(ctx, at(2), at(3), commands))
	require.NoError(t, queue.Execute(ctx, at(1), at(2), multiply))
	require.NoError(t, time.Signal(1))
	require.NoError(t, time.Wait(ctx, 3))
	for i := range output {
		want := float32(0)
		for j := range ins {
			want += input[i/outs*ins+j] * float32((i%outs*ins+j)%13-6)
		}
		require.Equal(t, want, output[i], "element %d of the GPU", i)
	}
	squares, err := unimem.View[uint16](own.Bytes()[:len(half)])
	require.NoError(t, err)
	for i, s := range squares {
		require.Equal(t, float32(i%9*(i%9)), fp16.Bits(s).Float32(), "element %d of the engine", i)
	}

	signal := hal.NewSemaphore(0)
	multiply.Buffers = []gpu.Range{multiply.Buffers[0], r, there.Range(0, 4*rows*outs)}
	require.NoError(t, queue.Execute(ctx, nil, []hal.Point{{Semaphore: signal, Value: 1}}, multiply))
	require.ErrorIs(t, signal.Wait(ctx, 1), gpu.ErrReadOnly, "a kernel that writes to the file")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
