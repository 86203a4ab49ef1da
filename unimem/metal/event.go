package metal

import (
	"context"
	"fmt"
)

// slice is how long a wait stays in Metal before it looks at its context, in milliseconds.
const slice = 20

// Event is an MTLSharedEvent: a value that grows, on which the host and the GPU wait. NewEvent makes one, and its
// caller closes it. Its methods are safe for concurrent use.
type Event struct{ object *object }

// Point is a value of an Event. It is reached when the Event has that value or a higher one.
type Point struct {
	Event *Event
	Value uint64
}

// NewEvent makes an Event with an initial value. Errors: ErrClosed, ErrRefused.
func (d *Device) NewEvent(initial uint64) (*Event, error) {
	o, err := d.make("event", func(ref uintptr) (uintptr, error) {
		event := d.driver.newEvent(ref)
		if event != 0 && initial > 0 {
			d.driver.signal(event, initial)
		}
		return event, nil
	})
	if err != nil {
		return nil, err
	}
	return &Event{o}, nil
}

// use calls f with the event, which stays open during the call.
func (e *Event) use(f func(d *driver, ref uintptr) error) error {
	var o *object
	if e != nil {
		o = e.object
	}
	ref := o.hold()
	if ref == 0 {
		return newError("event", ErrClosed, "", "the Event is nil or closed")
	}
	defer o.drop()
	return f(o.driver, ref)
}

// Value returns the value. The error is ErrClosed.
func (e *Event) Value() (v uint64, err error) {
	err = e.use(func(d *driver, ref uintptr) error { v = d.value(ref); return nil })
	return v, err
}

// Signal raises the value to v. At the current value it does nothing. Errors: ErrClosed, and ErrBackwards below it. Two
// callers that signal at the same time have to agree on the order: Metal itself accepts any value.
func (e *Event) Signal(v uint64) error {
	return e.use(func(d *driver, ref uintptr) error {
		switch before := d.value(ref); {
		case v < before:
			return newError("event", ErrBackwards, "", fmt.Sprintf("%d after %d", v, before))
		case v > before:
			d.signal(ref, v)
		}
		return nil
	})
}

// Wait waits until the value is v or higher. Errors: ErrClosed, and that of ctx. The Event stays open during the wait.
func (e *Event) Wait(ctx context.Context, v uint64) error {
	if ctx == nil {
		ctx = context.Background()
	}
	return e.use(func(d *driver, ref uintptr) error {
		for d.value(ref) < v {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.await(ref, v, slice)
		}
		return nil
	})
}

// Next waits until the value is above v, and returns it. Errors are those of Wait.
func (e *Event) Next(ctx context.Context, v uint64) (next uint64, err error) {
	if err := e.Wait(ctx, v+1); err != nil {
		return v, err
	}
	return e.Value()
}

// Close releases the Event, once; repeating it returns nil. The error is ErrInUse while a Work that names it has not
// ended, or a call waits for it.
func (e *Event) Close() error {
	if e == nil {
		return nil
	}
	return e.object.close("Event")
}
