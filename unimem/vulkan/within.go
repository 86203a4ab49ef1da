package vulkan

import "context"

// within calls f, which calls a driver. If ctx ends first, within returns its error, and undo gets what f made as soon
// as f returns. done, if not nil, is called once nothing runs any more.
func within[T any](ctx context.Context, done func(), f func() (T, error), undo func(T)) (made T, err error) {
	if done == nil {
		done = func() {}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		done()
		return made, err
	}
	if ctx.Done() == nil {
		defer done()
		return f()
	}
	type answer struct {
		made T
		err  error
	}
	answers, left := make(chan answer), make(chan struct{})
	go func() {
		defer done()
		made, err := f()
		select {
		case answers <- answer{made, err}:
		case <-left:
			if err == nil && undo != nil {
				undo(made)
			}
		}
	}()
	select {
	case a := <-answers:
		return a.made, a.err
	case <-ctx.Done():
		close(left)
		return made, ctx.Err()
	}
}

// onDevice is within for a call on an open Device, which Close waits for.
func onDevice[T any](ctx context.Context, d *Device, op string, f func() (T, error), undo func(T)) (made T, err error) {
	if d == nil || d.in == nil {
		return made, closed(op, "Device")
	}
	d.mu.Lock()
	err = d.usable(op)
	if err == nil {
		d.running.Enter()
	}
	d.mu.Unlock()
	if err != nil {
		return made, err
	}
	return within(ctx, d.running.Leave, f, undo)
}
