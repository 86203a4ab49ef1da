package gpu

import (
	"fmt"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/unimem"
)

// turns has CPU, GPU, engine, GPU and CPU work in turn on one Block, in the order of one timeline: x, 2x+1, squared,
// halved. An engine that reads a surface from byte 0 only writes to a second Block.
func (c *checks) turns(t *trial.T) {
	device := trial.Must(hal.NewDevice(c.engine))
	t.Later(device.Close)
	program := trial.Must(device.Prepare(t.Ctx, trial.Program("square", func(f *mil.FuncBuilder) {
		x := f.Input("x", mil.FP16, 1, 4, 64, 64)
		f.Output(f.Op("mul", mil.TensorOf(mil.FP16, 1, 4, 64, 64), "y", mil.A("x", x), mil.A("y", x)))
	})))
	size := program.Inputs()[0].Bytes()
	at := max((size+unimem.PageSize-1)/unimem.PageSize*unimem.PageSize, c.engine.Info().MinSurface)
	x, where := c.open(t, 2*at), "one Block"
	y := x
	if y.offset = at; !c.engine.Info().Offsets {
		y, where = c.open(t, at), "a Block for inputs and one for outputs, since this engine reads a surface from byte 0"
	}
	var ranges [2]hal.Range
	copies := 0 // sides that have other pages than the Block
	for i, p := range []place{x, y} {
		b := trial.Must(device.Import(p.Block))
		t.Closing(b.Close)
		ranges[i] = b.Range(p.offset, size)
		if &b.Bytes()[0] != &p.Bytes()[0] {
			copies++
		}
		if p.apart() > 0 {
			copies++
		}
	}
	commands := trial.Must(device.NewCommandBuffer(hal.OneShot))
	commands.Dispatch(program, map[string]hal.Range{"x": ranges[0]}, map[string]hal.Range{"y": ranges[1]})
	trial.NoError(commands.End())
	t.Closing(commands.Close)

	time := hal.NewSemaphore(0)
	t.Closing(func() error { time.Fail(nil); return nil }) // ends what waits after an error
	point := func(v uint64) []hal.Point { return []hal.Point{{Semaphore: time, Value: v}} }
	scale := func(from, to uint64, p place, factor, add float32) {
		trial.NoError(c.device.Submit(t.Ctx, point(from), point(to), Work{Memory: p.memory, Offset: p.offset, Length: size,
			Factor: factor, Add: add}))
	}
	// In an order that only the timeline makes right.
	scale(3, 4, y, 0.5, 0)
	trial.NoError(device.Queue().Execute(t.Ctx, point(2), point(3), commands))
	scale(1, 2, x, 2, 1)
	value := func(i int) float64 { return float64(i%21) / 4 }
	in, out := x.Bytes(), y.Bytes()[y.offset:]
	wrong, count := 0, size/2
	for i := range count {
		half(in[2*i:], value(i))
	}
	trial.NoError(time.Signal(1))
	if err := time.Wait(t.Ctx, 4); err != nil {
		trial.NoError(fmt.Errorf("the turns ended early: %w", err))
	}
	for i := range count {
		if s := 2*value(i) + 1; halfAt(out[2*i:]) != s*s/2 {
			wrong++
		}
	}
	t.Add(trial.Judge(turns, wrong == 0 && copies == 0, float64(wrong), "elements",
		"CPU, GPU, engine, GPU and CPU in turn on %s: %d of %d elements are wrong, %d sides have a copy", where, wrong,
		count, copies).Against(trial.AtMost(0)))
}
