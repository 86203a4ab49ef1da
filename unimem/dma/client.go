package dma

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
)

// maxAbandoned is the limit of calls without an answer, at which a client refuses further ones: each keeps a
// thread and a Block.
const maxAbandoned = 16

// client is the Driver that talks to an extension through IOKit. A call of the extension cannot be canceled, so a
// call whose context ends continues in its goroutine, which undoes its effect and releases the Block.
type client struct {
	table   *iokit.Table
	connect uint32

	prepared atomic.Int64 // nanoseconds in PrepareForDMA

	mu         sync.Mutex
	running    int // calls in the extension
	abandoned  int // of these, without a caller
	closed     bool
	completing map[Command]*completion
}

// completion is a call of the extension that completes a command. It stays in the map until a caller has its
// result.
type completion struct {
	done chan struct{} // closed when err is valid
	err  error
}

// connectTo opens a service and checks that the extension speaks this version.
func connectTo(ctx context.Context, table *iokit.Table, service string) (*client, error) {
	fail := func(err, cause error, hint string) error {
		return &Error{Op: "open", Offset: -1, Err: err, Cause: cause, Hint: hint}
	}
	type opened struct {
		connect uint32
		err     error
	}
	result := make(chan opened, 1)
	go func() {
		name := table.Service(service)
		if name == 0 {
			result <- opened{err: fail(ErrUnavailable, nil, service+" is not registered: build and install the "+
				"extension, see unimem/dma/dext/README.md")}
			return
		}
		connect, code := table.Open(name)
		table.Release(name)
		err := returned("IOServiceOpen", code)
		if err != nil {
			err = fail(ErrRefused, err, hintOf(err))
		}
		result <- opened{connect, err}
	}()
	var o opened
	select {
	case o = <-result:
	case <-ctx.Done():
		go func() {
			if o := <-result; o.err == nil {
				table.Close(o.connect)
			}
		}()
		return nil, fail(ErrRefused, context.Cause(ctx), "the extension does not start")
	}
	if o.err != nil {
		return nil, o.err
	}
	c := &client{table: table, connect: o.connect, completing: map[Command]*completion{}}
	version, err := c.version(ctx)
	switch {
	case err != nil:
		err = fail(ErrRefused, err, hintOf(err))
	case version != protocolVersion:
		err = fail(ErrDriver, nil, fmt.Sprintf("the extension has version %d, this client %d: install the "+
			"extension of this version", version, protocolVersion))
	default:
		return c, nil
	}
	_ = c.Close() // the first failure is the one to report
	return nil, err
}

func (c *client) version(ctx context.Context) (v uint64, err error) {
	out := make([]uint64, 1)
	var failed error
	if _, err := c.do(ctx, func() { _, _, failed = c.call("version", selectVersion, nil, nil, out, nil) },
		nil); err != nil {
		return 0, err // the call may still write to out and failed
	}
	return out[0], failed
}

// call calls a method of the extension.
func (c *client) call(name string, selector uint32, in []uint64, inBytes []byte, out []uint64, outBytes []byte) (n,
	bytes int, err error) {
	n, bytes, code := c.table.Call(c.connect, selector, in, inBytes, out, outBytes)
	return n, bytes, returned("IOConnectCallMethod "+name, code)
}

// do calls f, which calls the extension, and waits until it returns or ctx ends. In the second case the error is the
// cause of ctx, and late, which may be nil, is called once f has returned. begun is false if f is not called at all.
func (c *client) do(ctx context.Context, f, late func()) (begun bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return false, ErrClosed
	case c.abandoned >= maxAbandoned:
		c.mu.Unlock()
		return false, fmt.Errorf("%w: %d calls of the extension have not returned", ErrRefused, maxAbandoned)
	}
	c.running++
	c.mu.Unlock()
	const waiting, returned, abandoned = 0, 1, 2
	var state atomic.Int32
	done := make(chan struct{})
	go func() {
		f()
		left := !state.CompareAndSwap(waiting, returned)
		if left && late != nil {
			late()
		}
		c.leave(left)
		close(done)
	}()
	select {
	case <-done:
		return true, nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	if state.CompareAndSwap(waiting, abandoned) {
		c.abandoned++
		c.mu.Unlock()
		return true, context.Cause(ctx)
	}
	c.mu.Unlock()
	<-done
	return true, nil
}

// leave ends a call of do. The last one after Close closes the connection.
func (c *client) leave(abandoned bool) {
	c.mu.Lock()
	c.running--
	if abandoned {
		c.abandoned--
	}
	last := c.closed && c.running == 0
	c.mu.Unlock()
	if last {
		c.table.Close(c.connect)
	}
}

// Prepare sends address and length of the rest of b.
func (c *client) Prepare(ctx context.Context, b *unimem.Block, offset int) (Command, []Segment, error) {
	if err := b.Retain(); err != nil { // until the extension has returned, which may be after the caller
		return 0, nil, err
	}
	r := request{Address: uint64(b.Address()) + uint64(offset), Length: uint64(b.Size() - offset),
		Direction: directionInOut}
	return c.obtain(ctx, func(out []byte) (int, error) {
		_, n, err := c.call("prepare", selectPrepare, nil, r.encode(), nil, out)
		return n, err
	}, b.Release)
}

// obtain calls f, which asks the extension for a reply, and decodes it. release is called when the extension has
// returned, in any case once.
func (c *client) obtain(ctx context.Context, f func(out []byte) (int, error), release func()) (Command, []Segment,
	error) {
	var command Command
	var segments []Segment
	var failed error
	begun, err := c.do(ctx, func() {
		out := make([]byte, replyBytes)
		var n int
		if n, failed = f(out); failed != nil {
			return
		}
		var took time.Duration
		command, segments, took, failed = decode(out, n)
		c.prepared.Add(int64(took))
		if failed != nil && command != 0 { // a reply that breaks the rules
			_ = c.complete(command)
		}
	}, func() {
		if failed == nil {
			_ = c.complete(command)
		}
		release()
	})
	if err != nil {
		if !begun {
			release()
		}
		return 0, nil, err
	}
	release()
	if failed != nil {
		return 0, nil, failed
	}
	return command, segments, nil
}

func (c *client) complete(command Command) error {
	_, _, err := c.call("complete", selectComplete, []uint64{uint64(command)}, nil, nil, nil)
	return err
}

// Complete ends a command. A call for a command that is being completed waits for the call that does it.
func (c *client) Complete(ctx context.Context, command Command) error {
	c.mu.Lock()
	p := c.completing[command]
	if p == nil {
		p = &completion{done: make(chan struct{})}
		c.completing[command] = p
		c.mu.Unlock()
		go func() {
			defer close(p.done)
			if _, err := c.do(context.Background(), func() { p.err = c.complete(command) }, nil); err != nil {
				p.err = err
			}
		}()
	} else {
		c.mu.Unlock()
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done:
		default:
			return context.Cause(ctx)
		}
	}
	c.mu.Lock()
	delete(c.completing, command)
	c.mu.Unlock()
	return p.err
}

// Close closes the connection, once; the extension then completes what is left. A call that has not returned keeps
// the connection until it does.
func (c *client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	idle := c.running == 0
	c.mu.Unlock()
	if !idle {
		return nil
	}
	return returned("IOServiceClose", c.table.Close(c.connect))
}

// PrepareTime is the time that the driver extension has spent in PrepareForDMA for this Device, 0 for other drivers.
func (d *Device) PrepareTime() time.Duration {
	if c, ok := d.driver.(*client); ok {
		return time.Duration(c.prepared.Load())
	}
	return 0
}
