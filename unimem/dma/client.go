package dma

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
)

// client is the Driver that talks to an extension through IOKit. A call of the extension cannot be canceled: a method
// of client returns when the extension does.
type client struct {
	table    *iokit.Table
	connect  uint32
	prepared atomic.Int64 // nanoseconds in PrepareForDMA
}

// connectTo opens a service and checks that the extension speaks this version.
func connectTo(ctx context.Context, table *iokit.Table, service string) (*client, error) {
	var c *client
	var calls late
	err := calls.begin(ctx)
	if err == nil {
		c, err = waitFor(ctx, &calls, func() (*client, error) { return openService(table, service) },
			func(c *client) { _ = c.Close() }) // its caller has an error already
	}
	var e *Error
	if err != nil && !errors.As(err, &e) { // the cause of ctx
		err = failure("open", nil, -1, ErrRefused, err, "the extension does not start")
	}
	return c, err
}

// openService is connectTo for as long as the extension takes. The error is an *Error.
func openService(table *iokit.Table, service string) (*client, error) {
	fail := func(err, cause error, hint string) (*client, error) {
		return nil, failure("open", nil, -1, err, cause, hint)
	}
	name := table.Service(service)
	if name == 0 {
		return fail(ErrUnavailable, nil, service+" is not registered: build and install the extension, see "+
			"unimem/dma/dext/README.md")
	}
	connect, code := table.Open(name)
	table.Release(name)
	if err := returned("IOServiceOpen", code); err != nil {
		return fail(ErrRefused, err, hintOf(err))
	}
	c := &client{table: table, connect: connect}
	version := make([]uint64, 1)
	_, err := c.call("version", selectVersion, nil, nil, version, nil)
	if err == nil && version[0] == protocolVersion {
		return c, nil
	}
	_ = c.Close() // the first failure is the one to report
	if err != nil {
		return fail(ErrRefused, err, hintOf(err))
	}
	return fail(ErrDriver, nil, fmt.Sprintf("the extension has version %d, this client %d: install the extension of "+
		"this version", version[0], protocolVersion))
}

// call calls a method of the extension, and returns how many bytes of outBytes it has written.
func (c *client) call(name string, selector uint32, in []uint64, inBytes []byte, out []uint64, outBytes []byte) (int,
	error) {
	_, n, code := c.table.Call(c.connect, selector, in, inBytes, out, outBytes)
	return n, returned("IOConnectCallMethod "+name, code)
}

// Prepare sends address and length of the rest of b.
func (c *client) Prepare(ctx context.Context, b *unimem.Block, offset int) (Command, []Segment, error) {
	r := request{Address: uint64(b.Address()) + uint64(offset), Length: uint64(b.Size() - offset),
		Direction: directionInOut}
	return c.obtain("prepare", selectPrepare, nil, r.encode())
}

// obtain calls a method that answers with a reply, and decodes it. A reply that breaks the rules is an ErrDriver, and
// its command is completed.
func (c *client) obtain(name string, selector uint32, in []uint64, inBytes []byte) (Command, []Segment, error) {
	out := make([]byte, replyBytes)
	n, err := c.call(name, selector, in, inBytes, nil, out)
	if err != nil {
		return 0, nil, err
	}
	command, segments, took, err := decode(out, n)
	if err != nil {
		if command != 0 {
			_ = c.Complete(context.Background(), command) // the broken reply is the error to report
		}
		return 0, nil, err
	}
	c.prepared.Add(int64(took))
	return command, segments, nil
}

// Complete ends a command.
func (c *client) Complete(_ context.Context, command Command) error {
	_, err := c.call("complete", selectComplete, []uint64{uint64(command)}, nil, nil, nil)
	return err
}

// Close closes the connection. The extension then completes the commands that are left.
func (c *client) Close() error { return returned("IOServiceClose", c.table.Close(c.connect)) }

// PrepareTime is the time that the driver extension has spent in PrepareForDMA for this Device, 0 for other drivers.
func (d *Device) PrepareTime() time.Duration {
	if c, ok := d.driver.(*client); ok {
		return time.Duration(c.prepared.Load())
	}
	return 0
}
