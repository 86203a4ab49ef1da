package dma

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
)

// Allocator is a connection to the extension of the folder dext/dext_contiguous_alloc, which allocates memory with
// device addresses. Memory of unimem.Open with Device.Segments is the usual way: an Allocator answers whether a buffer
// of the extension has fewer segments. Its methods are safe for concurrent use.
type Allocator struct {
	client *client

	mu     sync.Mutex
	blocks int
	closed bool
}

func newAllocator(ctx context.Context, table *iokit.Table) (*Allocator, error) {
	c, err := connectTo(ctx, table, contiguousService)
	if err != nil {
		return nil, err
	}
	return &Allocator{client: c}, nil
}

// Allocate returns a Block of size bytes, rounded up to PageSize, and its device addresses in the order of the bytes,
// at most MaxSegments. The caller closes the Block; then the device does not reach the memory any more. Its Backing is
// "foreign": no engine but the software engine takes it.
//
// Errors: ErrClosed, unimem.ErrZeroSize, unimem.ErrSize, ErrExhausted, ErrDriver, ErrRefused, the cause of ctx.
func (a *Allocator) Allocate(ctx context.Context, size int) (*unimem.Block, []Segment, error) {
	fail := func(err, cause error, hint string) (*unimem.Block, []Segment, error) {
		return nil, nil, &Error{Op: "allocate", Offset: -1, Err: err, Cause: cause, Hint: hint}
	}
	switch {
	case size == 0:
		return fail(unimem.ErrZeroSize, nil, "")
	case size < 0 || size+PageSize-1 < size:
		return fail(unimem.ErrSize, nil, fmt.Sprintf("%d bytes", size))
	}
	size = (size + PageSize - 1) / PageSize * PageSize
	if !a.hold() {
		return fail(ErrClosed, nil, "")
	}
	c := a.client
	command, segments, err := c.obtain(ctx, func(out []byte) (int, error) {
		_, n, err := c.call("allocate", selectAllocate, []uint64{uint64(size)}, nil, nil, out)
		return n, err
	}, func() {})
	if err != nil {
		a.drop()
		switch {
		case errors.Is(err, ErrExhausted):
			return fail(ErrExhausted, err, "close Blocks of the Allocator")
		case errors.Is(err, ErrDriver):
			return fail(ErrDriver, err, "")
		}
		return fail(ErrRefused, err, hintOf(err))
	}
	n, why := judge(segments, size)
	if why == "" && n != size {
		why = fmt.Sprintf("segments for %d of %d bytes", n, size)
	}
	if why == "" {
		why = overlap(segments)
	}
	var mem []byte
	code := int32(0)
	if why == "" {
		if mem, code = c.table.Map(c.connect, uint32(command)); code == 0 && len(mem) < size {
			c.table.Unmap(c.connect, uint32(command), mem)
			why = fmt.Sprintf("%d of %d bytes are mapped", len(mem), size)
		}
	}
	if why != "" || code != 0 {
		_ = c.complete(command)
		a.drop()
		if why != "" {
			return fail(ErrDriver, nil, why)
		}
		err := returned("IOConnectMapMemory64", code)
		return fail(ErrRefused, err, hintOf(err))
	}
	b, err := unimem.AdoptMemory(mem[:size:size], func() error { return a.free(command, mem) })
	if err != nil {
		_ = a.free(command, mem)
		return nil, nil, err
	}
	return b, segments, nil
}

// free unmaps memory and ends its command: the close of a Block.
func (a *Allocator) free(command Command, mem []byte) error {
	defer a.drop()
	unmapped := returned("IOConnectUnmapMemory64", a.client.table.Unmap(a.client.connect, uint32(command), mem))
	if err := a.client.complete(command); err != nil {
		return err
	}
	return unmapped
}

// hold counts a Block; it returns false after Close.
func (a *Allocator) hold() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.blocks++
	}
	return !a.closed
}

func (a *Allocator) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blocks--
}

// Close closes the connection, once; repeating it returns nil. The error is unimem.ErrInUse while a Block of it is
// open; then nothing changes.
func (a *Allocator) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil
	case a.blocks > 0:
		return &Error{Op: "close", Offset: -1, Err: unimem.ErrInUse,
			Hint: fmt.Sprintf("close the Blocks of the Allocator first, %d are open", a.blocks)}
	}
	a.closed = true
	if err := a.client.Close(); err != nil {
		return &Error{Op: "close", Offset: -1, Err: ErrRefused, Cause: err}
	}
	return nil
}
