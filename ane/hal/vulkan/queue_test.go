package vulkan_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/vulkan"
	"github.com/anekit/anekit/unimem"
	gpu "github.com/anekit/anekit/unimem/vulkan"
)

// square is the engine's program.
const square = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4, 8, 32]> x) {
        tensor<fp16, [1, 4, 8, 32]> y = mul(x = x, y = x)[name = string("y")];
    } -> (y);
}`

// CPU, GPU, engine, GPU and CPU in turn on one Block: x, then 2x+1 by the GPU, squared by the engine, halved by the
// GPU.
func TestTurnsOnOneBlock(t *testing.T) {
	ctx := t.Context()
	d := open(t)
	e, err := engine.Open(ctx, engine.Soft, engine.AllowOffsets())
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.True(t, e.Info().Offsets, "the software engine reads a Block from any byte")
	device, err := hal.NewDevice(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, device.Close(context.Background())) }()
	program, err := device.Prepare(ctx, ane.Source{File: "square.mil", Text: []byte(square)})
	require.NoError(t, err)
	in := program.Inputs()[0]
	size := in.Bytes()

	b := block(t, 2*unimem.PageSize)
	here, err := device.Import(b)
	require.NoError(t, err)
	there, err := d.Import(ctx, b)
	require.NoError(t, err)
	defer func() { require.NoError(t, there.Close()) }()
	here.Bytes()[0] = 7
	require.EqualValues(t, 7, there.Bytes()[0])
	require.Same(t, &b.Bytes()[0], &here.Bytes()[0])
	k, err := d.NewKernel(ctx, gpu.Scale())
	require.NoError(t, err)
	defer func() { require.NoError(t, k.Close()) }()
	const second = unimem.PageSize
	commands, err := device.NewCommandBuffer(hal.Reusable)
	require.NoError(t, err)
	commands.Dispatch(program, map[string]hal.Range{"x": here.Range(0, size)},
		map[string]hal.Range{"y": here.Range(second, size)})
	require.NoError(t, commands.End())

	queue := queueOf(t, d)
	for round := range 3 {
		time := hal.NewSemaphore(0)
		at := func(v uint64) []hal.Point { return []hal.Point{{Semaphore: time, Value: v}} }
		// In an order that only the timeline makes right.
		y := there.Range(second, size)
		require.NoError(t, queue.Execute(ctx, at(3), at(4), scale(k, y, y, 0.5, 0)))
		require.NoError(t, device.Queue().Execute(ctx, at(2), at(3), commands))
		require.NoError(t, queue.Execute(ctx, at(1), at(2), scale(k, there.Range(0, size), there.Range(0, size), 2, 1)))
		x, err := unimem.View[uint16](b.Bytes()[:size])
		require.NoError(t, err)
		value := func(i int) float64 { return float64((i+round)%21) / 4 }
		for i := range x {
			x[i] = uint16(fp16.FromFloat64(value(i)))
		}
		require.NoError(t, time.Signal(1))
		require.NoError(t, time.Wait(ctx, 4))
		results, err := unimem.View[uint16](b.Bytes()[second : second+size])
		require.NoError(t, err)
		for i, r := range results {
			s := 2*value(i) + 1
			require.Equal(t, s*s/2, float64(fp16.Bits(r).Float32()), "round %d, element %d", round, i)
		}
	}
}

// A failed wait starts nothing on the GPU and fails the signals.
func TestFailedWaitStartsNothing(t *testing.T) {
	d := open(t)
	b := block(t, unimem.PageSize)
	buf, err := d.Import(t.Context(), b)
	require.NoError(t, err)
	defer func() { require.NoError(t, buf.Close()) }()
	q := queueOf(t, d)
	wait, signal := hal.NewSemaphore(0), hal.NewSemaphore(0)
	require.NoError(t, q.Execute(t.Context(), []hal.Point{{Semaphore: wait, Value: 1}},
		[]hal.Point{{Semaphore: signal, Value: 1}}, gpu.Fill{To: buf.Range(0, 4), Word: math.MaxUint32}))
	cause := errors.New("the engine has stopped")
	wait.Fail(cause)
	err = signal.Wait(t.Context(), 1)
	require.ErrorIs(t, err, hal.ErrFailed)
	require.ErrorIs(t, err, cause)
	require.Zero(t, b.Bytes()[0])
}

// What the device refuses fails the signals with its error.
func TestRefusedWorkFailsItsSignals(t *testing.T) {
	d := open(t)
	buf, err := d.NewBuffer(t.Context(), 64)
	require.NoError(t, err)
	require.NoError(t, buf.Close())
	signal := hal.NewSemaphore(0)
	require.NoError(t, queueOf(t, d).Execute(t.Context(), nil, []hal.Point{{Semaphore: signal, Value: 1}},
		gpu.Fill{To: buf.Range(0, 4)}))
	require.ErrorIs(t, signal.Wait(t.Context(), 1), gpu.ErrClosed)
}

// The end of a context fails a submission that waits; Close of the Queue does too.
func TestContextAndCloseEndWaits(t *testing.T) {
	d := open(t)
	q := queueOf(t, d)
	never := hal.NewSemaphore(0)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := hal.NewSemaphore(0), hal.NewSemaphore(0)
	waits := []hal.Point{{Semaphore: never, Value: 1}}
	require.NoError(t, q.Execute(ctx, waits, []hal.Point{{Semaphore: first, Value: 1}}))
	require.NoError(t, q.Execute(t.Context(), waits, []hal.Point{{Semaphore: second, Value: 1}}))
	cancel()
	require.ErrorIs(t, first.Wait(t.Context(), 1), context.Canceled)
	require.NoError(t, q.Close(t.Context()))
	require.ErrorIs(t, second.Wait(t.Context(), 1), vulkan.ErrClosed)
	require.ErrorIs(t, q.Execute(t.Context(), nil, nil), hal.ErrClosed)
	require.NoError(t, q.Close(t.Context()))
	var none *vulkan.Queue
	require.ErrorIs(t, none.Execute(t.Context(), nil, nil), vulkan.ErrClosed)
	require.NoError(t, none.Close(t.Context()))
	require.ErrorIs(t, queueOf(t, d).Execute(t.Context(), []hal.Point{{}}, nil), hal.ErrClosed)
}

// A Pair carries values both ways: the GPU waits for what the host signals, and the host for what the GPU does.
func TestPair(t *testing.T) {
	ctx := t.Context()
	d := open(t)
	b := block(t, unimem.PageSize)
	buf, err := d.Import(ctx, b)
	require.NoError(t, err)
	s := hal.NewSemaphore(3)
	p, err := vulkan.Join(d, s)
	require.NoError(t, err)
	at := func(v uint64) []gpu.Point { return []gpu.Point{{Timeline: p.Timeline(), Value: v}} }
	require.NoError(t, d.Submit(ctx, at(5), at(7), gpu.Fill{To: buf.Range(0, 4), Word: math.MaxUint32}))
	v, err := s.Value()
	require.NoError(t, err)
	require.EqualValues(t, 3, v)
	require.ErrorIs(t, buf.Close(), gpu.ErrInUse, "the GPU waits for 5")
	require.Zero(t, b.Bytes()[0])
	require.NoError(t, s.Signal(5))
	require.NoError(t, s.Wait(ctx, 7))
	require.Equal(t, byte(255), b.Bytes()[0])
	require.NoError(t, p.Timeline().Signal(9))
	require.NoError(t, s.Wait(ctx, 9))
	require.NoError(t, s.Signal(10))
	require.NoError(t, p.Timeline().Wait(ctx, 10))
	require.NoError(t, buf.Close())
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	require.NoError(t, s.Signal(11), "the semaphore stays the caller's")
}

func ExampleQueue() {
	ctx := context.Background()
	device, err := gpu.Open(ctx)
	if err != nil {
		fmt.Println("255 255 255 255 0") // no driver here
		return
	}
	defer device.Close(ctx)
	block := ane.Must(unimem.Open(16))
	defer block.Close()
	buffer := ane.Must(device.Import(ctx, block)) // the Block's own pages
	defer buffer.Close()
	queue := ane.Must(vulkan.NewQueue(device))
	defer queue.Close(ctx)

	timeline := hal.NewSemaphore(0)
	done := []hal.Point{{Semaphore: timeline, Value: 1}}
	if err := queue.Execute(ctx, nil, done, gpu.Fill{To: buffer.Range(0, 4), Word: 1<<32 - 1}); err != nil {
		panic(err)
	}
	if err := timeline.Wait(ctx, 1); err != nil {
		panic(err)
	}
	for _, b := range block.Bytes()[:5] {
		fmt.Print(b, " ")
	}
	// Output: 255 255 255 255 0
}

// The GPU has its work before the host reaches the point that the work waits for.
func ExampleJoin() {
	ctx := context.Background()
	device, err := gpu.Open(ctx)
	if err != nil {
		fmt.Println("reached 2") // no driver here
		return
	}
	defer device.Close(ctx)
	timeline := hal.NewSemaphore(0)
	pair := ane.Must(vulkan.Join(device, timeline))
	defer pair.Close()
	point := func(v uint64) []gpu.Point { return []gpu.Point{{Timeline: pair.Timeline(), Value: v}} }
	if err := device.Submit(ctx, point(1), point(2)); err != nil { // here come commands
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
