package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/unimem"
)

// square is the program of the engine.
const square = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4, 64, 64]> x) {
        tensor<fp16, [1, 4, 64, 64]> y = mul(x = x, y = x)[name = string("y")];
    } -> (y);
}
`

// taken has CPU, GPU, engine, GPU and CPU work in turn on one Block, in the order of one timeline: x, 2x+1, squared,
// halved. An engine that reads a surface from byte 0 only writes to a second Block.
func taken(ctx context.Context, d Device, e *ane.Device) (checks []trial.Check, err error) {
	device, err := hal.NewDevice(e)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, device.Close(context.WithoutCancel(ctx))) }()
	tree, err := mil.Parse("square.mil", []byte(square)) // a tree, which an engine prints in its own dialect
	if err != nil {
		return nil, err
	}
	program, err := device.Prepare(ctx, ane.Source{File: "square.mil", Program: tree})
	if err != nil {
		return nil, err
	}
	size := program.Inputs()[0].Bytes()
	at, blocks := (size+unimem.PageSize-1)/unimem.PageSize*unimem.PageSize, 1
	if !e.Info().Offsets {
		blocks = 2
	}
	at = max(at, e.Info().MinSurface)
	copies, wrong, count := 0, 0, 0
	err = on(ctx, d, 2*at, func(first *unimem.Block, m Memory) error {
		if blocks == 1 {
			copies, wrong, count, err = turn(ctx, d, device, program, place{first, m, 0}, place{first, m, at}, size)
			return err
		}
		return on(ctx, d, at, func(second *unimem.Block, n Memory) error {
			copies, wrong, count, err = turn(ctx, d, device, program, place{first, m, 0}, place{second, n, 0}, size)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	where := "one Block"
	if blocks == 2 {
		where = "a Block for inputs and one for outputs, since this engine reads a surface from byte 0"
	}
	return []trial.Check{trial.Judge(turns, wrong == 0 && copies == 0, float64(wrong), "elements",
		"CPU, GPU, engine, GPU and CPU in turn on %s: %d of %d elements are wrong, %d sides have a copy", where, wrong,
		count, copies).Against(trial.AtMost(0))}, nil
}

// place is a range of a Block with its Memory of the GPU.
type place struct {
	block  *unimem.Block
	memory Memory
	offset int
}

// turn runs the chain from x to y, each of size bytes. copies counts the sides that have other pages than the Block.
func turn(ctx context.Context, d Device, device *hal.Device, program *hal.Executable, x, y place,
	size int) (copies, wrong, count int, err error) {
	var ranges [2]hal.Range
	for i, p := range []place{x, y} {
		b, err := device.Import(p.block)
		if err != nil {
			return 0, 0, 0, err
		}
		defer func() { err = errors.Join(err, b.Close()) }()
		ranges[i] = b.Range(p.offset, size)
		if &b.Bytes()[0] != &p.block.Bytes()[0] {
			copies++
		}
		if n := apart(p.block, p.memory); n > 0 {
			copies++
		}
	}
	commands, err := device.NewCommandBuffer(hal.OneShot)
	if err != nil {
		return 0, 0, 0, err
	}
	commands.Dispatch(program, map[string]hal.Range{"x": ranges[0]}, map[string]hal.Range{"y": ranges[1]})
	if err := commands.End(); err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, commands.Close()) }()
	time := hal.NewSemaphore(0)
	point := func(v uint64) []hal.Point { return []hal.Point{{Semaphore: time, Value: v}} }
	// In an order that only the timeline makes right.
	err = d.Scale(ctx, point(3), point(4), y.memory, y.offset, size, 0.5, 0)
	if err == nil {
		err = device.Queue().Execute(ctx, point(2), point(3), commands)
	}
	if err == nil {
		err = d.Scale(ctx, point(1), point(2), x.memory, x.offset, size, 2, 1)
	}
	if err != nil {
		time.Fail(err)
		return 0, 0, 0, err
	}
	value := func(i int) float64 { return float64(i%21) / 4 }
	in, out := x.block.Bytes()[x.offset:], y.block.Bytes()[y.offset:]
	count = size / 2
	for i := range count {
		half(in[2*i:], value(i))
	}
	if err := time.Signal(1); err != nil {
		return 0, 0, 0, err
	}
	if err := time.Wait(ctx, 4); err != nil {
		return 0, 0, 0, fmt.Errorf("the turns ended early: %w", err)
	}
	for i := range count {
		if s := 2*value(i) + 1; halfAt(out[2*i:]) != s*s/2 {
			wrong++
		}
	}
	return copies, wrong, count, nil
}
