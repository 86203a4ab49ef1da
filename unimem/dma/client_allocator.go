package dma

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
)

// Allocator is a connection to the driver extension by which the extension allocates memory with device addresses.
// Memory of unimem.Open with Device.Segments is the usual way: an Allocator answers whether a buffer of the extension
// has fewer segments. Its methods are safe for concurrent use.
type Allocator struct {
	client *client
	late   late

	mu     sync.Mutex
	blocks int // open, or being allocated
	closed bool
}

func newAllocator(ctx context.Context, table *iokit.Table) (*Allocator, error) {
	c, err := connectTo(ctx, table, extensionService)
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
		return nil, nil, failure("allocate", nil, -1, err, cause, hint)
	}
	switch {
	case size == 0:
		return fail(unimem.ErrZeroSize, nil, "")
	case size < 0 || size+PageSize-1 < size:
		return fail(unimem.ErrSize, nil, fmt.Sprintf("%d bytes", size))
	}
	if err := a.late.begin(ctx); err != nil {
		return fail(ErrRefused, err, "")
	}
	type result struct {
		block    *unimem.Block
		segments []Segment
	}
	r, err := waitFor(ctx, &a.late, func() (r result, err error) {
		r.block, r.segments, err = a.allocate((size + PageSize - 1) / PageSize * PageSize)
		return r, err
	}, func(r result) { _ = r.block.Close() }) // its caller has an error already
	switch {
	case err == nil:
		return r.block, r.segments, nil
	case err == ErrClosed: // not the code of an extension that has ended, which matches it too
		return fail(ErrClosed, nil, "")
	case errors.Is(err, ErrExhausted):
		return fail(ErrExhausted, err, "close Blocks of the Allocator")
	case errors.Is(err, ErrDriver):
		return fail(ErrDriver, err, "")
	}
	return fail(ErrRefused, err, hintOf(err))
}

// allocate is Allocate of whole pages, for as long as the extension takes.
func (a *Allocator) allocate(size int) (*unimem.Block, []Segment, error) {
	if !a.hold() {
		return nil, nil, ErrClosed
	}
	command, segments, err := a.client.obtain("allocate", selectAllocate, []uint64{uint64(size)}, nil)
	if err != nil {
		a.drop()
		return nil, nil, err
	}
	mem, err := a.mapMemory(command, segments, size)
	if err != nil {
		_ = a.client.Complete(context.Background(), command) // the first failure is the one to report
		a.drop()
		return nil, nil, err
	}
	b, err := unimem.AdoptMemory(mem[:size:size], func() error { return a.free(command, mem) })
	if err != nil {
		_ = a.free(command, mem)
	}
	return b, segments, err
}

// mapMemory checks the segments of a command and maps its size bytes into this process.
func (a *Allocator) mapMemory(command Command, segments []Segment, size int) ([]byte, error) {
	n, why := judge(segments, size)
	if why == "" && n != size {
		why = fmt.Sprintf("segments for %d of %d bytes", n, size)
	}
	if why == "" {
		why = overlap(segments)
	}
	if why != "" {
		return nil, fmt.Errorf("%w: %s", ErrDriver, why)
	}
	mem, code := a.client.table.Map(a.client.connect, uint32(command))
	if code != 0 {
		return nil, returned("IOConnectMapMemory64", code)
	}
	if len(mem) < size {
		a.client.table.Unmap(a.client.connect, uint32(command), mem)
		return nil, fmt.Errorf("%w: %d of %d bytes are mapped", ErrDriver, len(mem), size)
	}
	return mem, nil
}

// free unmaps memory and ends its command. The close of a Block calls it.
func (a *Allocator) free(command Command, mem []byte) error {
	defer a.drop()
	unmapped := returned("IOConnectUnmapMemory64", a.client.table.Unmap(a.client.connect, uint32(command), mem))
	if err := a.client.Complete(context.Background(), command); err != nil {
		return err
	}
	return unmapped
}

// hold counts a Block. It returns false after Close.
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

// Close closes the connection, once; repeating it returns nil. While a Block of the Allocator is open, or an Allocate
// has not returned from the extension, Close changes nothing.
//
// Errors: unimem.ErrInUse, ErrRefused.
func (a *Allocator) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil
	case a.blocks > 0:
		return failure("close", nil, -1, unimem.ErrInUse, nil,
			fmt.Sprintf("close the Blocks of the Allocator first, %d are open", a.blocks))
	}
	a.closed = true
	if err := a.client.Close(); err != nil {
		return failure("close", nil, -1, ErrRefused, err, "")
	}
	return nil
}
