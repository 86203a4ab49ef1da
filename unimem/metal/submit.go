package metal

import (
	"context"
	"fmt"
)

// Dispatch runs a Kernel.
type Dispatch struct {
	Kernel *Kernel
	// Buffers has a Range for each buffer of the Program. Offsets and lengths are multiples of 4. The kernel does not
	// check its accesses. If a Range is too short for the constants, which is the caller's fault, the kernel may access
	// other bytes of the Buffer.
	Buffers []Range
	Push    []byte // constants, as many bytes as the Program has
	Groups  [3]int // along x, y and z; see Program.Groups
}

// Work is what Submit has given to the GPU.
type Work struct {
	done chan struct{} // closed when the GPU has ended it
	err  error         // valid then
}

// Submit gives work to the GPU. Once every wait is reached, the commands run one after another, and each sees what
// those before it wrote. Then the signals are reached. The CPU sees what they wrote once a signal is reached, or the
// Work has ended. Submit does not wait. What the work names stays open until it has ended. Work that fails may leave
// its signals unreached: Work.Wait returns the error.
//
// The queue is in order: work that waits makes later submissions wait too.
//
// Errors: ErrClosed, ErrForeign, ErrRange, ErrReadOnly, ErrKernel with the number of the command, ErrBackwards (a signal that is
// not above the Event's value), ErrRefused.
func (d *Device) Submit(waits, signals []Point, all ...Command) (*Work, error) {
	s := &submission{device: d}
	w, err := s.collect(waits, signals, all)
	if err != nil {
		s.drop()
		return nil, err
	}
	var commands uintptr
	err = d.use("submit", func(ref uintptr) error {
		if len(w.steps) > 1 {
			if w.fence = d.driver.newFence(ref); w.fence == 0 {
				return newError("submit", ErrRefused, "", "Metal makes no fence")
			}
			defer d.driver.release(w.fence) // the command buffer retains it
		}
		if commands = d.driver.start(d.queue, w); commands == 0 {
			return newError("submit", ErrRefused, "", "the queue has too much work")
		}
		return nil
	})
	if err != nil {
		s.drop()
		return nil, err
	}
	done := &Work{done: make(chan struct{})}
	go func() {
		code, fault := d.driver.finish(commands)
		d.driver.release(commands)
		s.drop()
		done.err = workError(code, fault)
		close(done.done)
	}()
	return done, nil
}

// submission is the objects that a Work keeps open.
type submission struct {
	device *Device
	held   []*object
}

func (s *submission) drop() {
	for _, o := range s.held {
		o.drop()
	}
	s.held = nil
}

// hold keeps an object of the Device open.
func (s *submission) hold(o *object, what string) (uintptr, error) {
	if o != nil && o.device != s.device {
		return 0, newError("submit", ErrForeign, "", "use a "+what+" of this Device")
	}
	ref := o.hold()
	if ref == 0 {
		return 0, newError("submit", ErrClosed, "", "the "+what+" is nil or closed")
	}
	s.held = append(s.held, o)
	return ref, nil
}

// collect checks what a submission names, and keeps it open.
func (s *submission) collect(waits, signals []Point, commands []Command) (w work, err error) {
	for i, c := range commands {
		if c == nil {
			return w, newError("submit", ErrClosed, "", fmt.Sprintf("command %d is nil", i))
		}
		made, err := c.steps(s)
		if err != nil {
			if e, ok := err.(*Error); ok { //nolint:errorlint // of the command itself
				e.Hint = fmt.Sprintf("command %d: %s", i, e.Hint)
			}
			return w, err
		}
		w.steps = append(w.steps, made...)
	}
	if w.waits, err = s.points(waits); err != nil {
		return w, err
	}
	if w.signals, err = s.points(signals); err != nil {
		return w, err
	}
	for _, p := range w.signals {
		if before := s.device.driver.value(p.event); p.value <= before {
			return w, newError("submit", ErrBackwards, "",
				fmt.Sprintf("a signal of %d, the Event has %d", p.value, before))
		}
	}
	return w, nil
}

func (s *submission) points(points []Point) (all []eventAt, err error) {
	for _, p := range points {
		var o *object
		if p.Event != nil {
			o = p.Event.object
		}
		ref, err := s.hold(o, "Event")
		if err != nil {
			return nil, err
		}
		all = append(all, eventAt{ref, p.Value})
	}
	return all, nil
}

func (c Dispatch) steps(s *submission) ([]step, error) {
	made, err := s.dispatch(c)
	return []step{{dispatch: made}}, err
}

func (s *submission) dispatch(c Dispatch) (made dispatch, err error) {
	var o *object
	if c.Kernel != nil {
		o = c.Kernel.object
	}
	pipeline, err := s.hold(o, "Kernel")
	if err != nil {
		return made, err
	}
	p := c.Kernel.program
	refuse := func(kind error, format string, args ...any) (dispatch, error) {
		return dispatch{}, newError("submit", kind, "", p.Name+": "+fmt.Sprintf(format, args...))
	}
	switch {
	case len(c.Buffers) != len(p.Buffers):
		return refuse(ErrKernel, "%d buffers, the Program has %d", len(c.Buffers), len(p.Buffers))
	case len(c.Push) != p.Push:
		return refuse(ErrKernel, "%d bytes of constants, the Program has %d", len(c.Push), p.Push)
	case c.Groups[0] < 1 || c.Groups[1] < 1 || c.Groups[2] < 1:
		return refuse(ErrKernel, "%v groups: each number is at least 1", c.Groups)
	}
	made = dispatch{pipeline: pipeline, push: append([]byte{}, c.Push...), pushAt: p.PushAt, groups: c.Groups}
	for i, n := range p.Group {
		made.group[i] = max(n, 1)
	}
	for i, r := range c.Buffers {
		var o *object
		if r.Buffer != nil {
			o = r.Buffer.object
		}
		ref, err := s.hold(o, "Buffer")
		if err != nil {
			return made, err
		}
		switch {
		case r.Offset < 0 || r.Length < 1 || r.Offset > r.Buffer.size || r.Length > r.Buffer.size-r.Offset:
			return refuse(ErrRange, "buffer %d: %d bytes at %d of %d", i, r.Length, r.Offset, r.Buffer.size)
		case r.Offset%4 != 0 || r.Length%4 != 0:
			return refuse(ErrRange, "buffer %d: offset %d and length %d are not both multiples of 4", i, r.Offset,
				r.Length)
		case r.Buffer.readOnly && c.Kernel.reads>>p.Buffers[i]&1 == 0:
			return refuse(ErrReadOnly, "buffer %d is written: use a Buffer of a Block that may be written to", i)
		}
		made.buffers = append(made.buffers, bound{ref, r.Offset, p.Buffers[i]})
	}
	return made, nil
}

// Wait waits until the GPU has ended the work. Errors match ErrFailed, and ErrLost, ErrMemory, ErrFault or ErrTimeout
// if Metal reports the cause; or the error is that of ctx, and the work continues.
func (w *Work) Wait(ctx context.Context) error {
	if w == nil || w.done == nil {
		return newError("work", ErrClosed, "", "the Work is nil or zero")
	}
	if ctx == nil {
		ctx = context.Background()
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	}
	select {
	case <-w.done:
		return w.err
	default:
		return ctx.Err()
	}
}

// workError makes an error of a code of MTLCommandBufferError (Metal/MTLCommandBuffer.h); nil for 0.
func workError(code int, fault string) error {
	if code == 0 {
		return nil
	}
	kind := map[int]error{2: ErrTimeout, 3: ErrFault, 4: ErrLost, 8: ErrMemory, 11: ErrLost}[code]
	err := ErrFailed
	if kind != nil {
		err = fmt.Errorf("%w: %w", ErrFailed, kind)
	}
	return newError("work", err, "", fmt.Sprintf("code %d of MTLCommandBufferError: %s", code, fault))
}
