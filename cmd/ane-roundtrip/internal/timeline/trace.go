package timeline

import (
	"context"
	"errors"
	"io"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
)

// Program is a program to run for --trace.
type Program struct {
	Source ane.Source
	Inputs map[string][]byte // the bytes of tensors with their padding; zero without
}

// Trace runs programs on a timeline, one after another, and writes the trace.
func Trace(ctx context.Context, d *ane.Device, w io.Writer, programs []Program) (err error) {
	device, err := hal.NewDevice(d, hal.Tracing())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close(context.WithoutCancel(ctx))) }()
	t := timeline{Device: device, at: hal.NewSemaphore(0)}
	for _, p := range programs {
		if err := t.run(ctx, p); err != nil {
			return err
		}
	}
	if err := t.at.Wait(ctx, t.last); err != nil {
		return err
	}
	_, err = device.Trace().WriteTo(w)
	return err
}

// timeline is a Device whose submissions follow each other on one Semaphore.
type timeline struct {
	*hal.Device
	at   *hal.Semaphore
	last uint64
}

// next returns the points that the next submission awaits and signals.
func (t *timeline) next() (waits, signals []hal.Point) {
	t.last++
	return []hal.Point{{Semaphore: t.at, Value: t.last - 1}}, []hal.Point{{Semaphore: t.at, Value: t.last}}
}

// run submits the allocations, the evaluation and the deallocations of a program.
func (t *timeline) run(ctx context.Context, p Program) error {
	e, err := t.Prepare(ctx, p.Source)
	if err != nil {
		return err
	}
	c, err := t.NewCommandBuffer(hal.OneShot)
	if err != nil {
		return err
	}
	var buffers []*hal.Buffer
	place := func(layouts []ane.Layout) (map[string]hal.Range, error) {
		all := map[string]hal.Range{}
		for _, l := range layouts {
			waits, signals := t.next()
			b, err := t.Queue().Alloca(ctx, waits, signals, l.Bytes())
			if err != nil {
				return nil, err
			}
			buffers = append(buffers, b)
			all[l.Name] = b.Range(0, l.Bytes())
		}
		return all, nil
	}
	in, err := place(e.Inputs())
	if err != nil {
		return err
	}
	out, err := place(e.Outputs())
	if err != nil {
		return err
	}
	for _, l := range e.Inputs() {
		if data := p.Inputs[l.Name]; data != nil {
			c.Update(in[l.Name], data[:l.Bytes()])
		}
	}
	c.Dispatch(e, in, out)
	if err := c.End(); err != nil {
		return err
	}
	waits, signals := t.next()
	if err := t.Queue().Execute(ctx, waits, signals, c); err != nil {
		return err
	}
	for _, b := range buffers {
		waits, signals := t.next()
		if err := t.Queue().Dealloca(ctx, waits, signals, b); err != nil {
			return err
		}
	}
	return nil
}
