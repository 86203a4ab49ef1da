package dma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/anekit/anekit/internal/nvme"
	"github.com/anekit/anekit/unimem"
)

// Read reads count sectors, from sector first on, to the bytes of b from offset on, by the segments that
// d.Segments has for b. It splits them into commands of at most 1 MiB, and keeps up to 32 of them in flight.
// offset is a multiple of Sector.
//
// After an error any of the bytes may be changed. If ctx ends, Read aborts the commands in flight and waits up
// to 2 s for them; an access that has begun holds the pages until it ends, also after Read has returned, and
// Release waits for it.
//
// Errors: ErrNotMapped, ErrRange, ErrFault (a mapping that was withdrawn during the call), ErrTransfer with a *Status,
// ErrClosed, and the cause of ctx. A failure of several commands is Errors, with an *Error for each.
func (k *Disk) Read(ctx context.Context, b *unimem.Block, offset int, first int64, count int) error {
	return k.transfer(ctx, "read", k.host.Read, b, offset, first, count)
}

// Write is Read in the other direction: it writes the bytes of b to the sectors. The file has them after Flush. What
// the last sector has after the end of the file has to be zeros. After an error any of the sectors may be written.
//
// Errors: those of Read; ErrReadOnly for a disk without Writable.
func (k *Disk) Write(ctx context.Context, b *unimem.Block, offset int, first int64, count int) error {
	return k.transfer(ctx, "write", k.host.Write, b, offset, first, count)
}

// Flush returns when the data of earlier calls of Write is on the file's storage, as fsync does. On a disk without
// Writable it does nothing. Errors: ErrTransfer with a *Status, ErrClosed, and the cause of ctx.
func (k *Disk) Flush(ctx context.Context) error {
	err := context.Cause(ctx)
	if err == nil {
		err = k.host.Flush(ctx)
	}
	if err != nil {
		return k.fail("flush", nil, -1, err)
	}
	return nil
}

// command moves the data of one command.
type command func(ctx context.Context, first uint64, count int, data []nvme.Span, sgl bool) error

// transfer is Read and Write.
func (k *Disk) transfer(ctx context.Context, op string, run command, b *unimem.Block, offset int, first int64,
	count int) error {
	fail := func(err error, hint string) error {
		e := &Error{Op: op, Offset: offset, Err: err, Hint: hint}
		if b != nil {
			e.Block = b.ID()
		}
		return e
	}
	if b == nil {
		return fail(ErrNotMapped, "the Block is nil")
	}
	segments := k.d.mappedSegments(b)
	switch {
	case segments == nil:
		return fail(ErrNotMapped, "call Segments first")
	case first < 0 || count < 1 || first > k.Blocks() || int64(count) > k.Blocks()-first:
		return fail(ErrRange, fmt.Sprintf("%d sectors from %d on, of %d", count, first, k.Blocks()))
	case offset < 0 || offset%k.Sector() != 0 || offset > b.Size() || count > (b.Size()-offset)/k.Sector():
		return fail(ErrRange, fmt.Sprintf("%d sectors of %d bytes, from byte %d on, of %d", count, k.Sector(), offset,
			b.Size()))
	}
	each := nvme.MaxTransfer / k.Sector()
	parts := (count + each - 1) / each
	errs := make(Errors, parts)
	var wg sync.WaitGroup
	slots := make(chan struct{}, nvme.Depth)
	for i := range parts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			from := offset + i*nvme.MaxTransfer
			n := min(each, count-i*each)
			err := context.Cause(ctx)
			if err == nil {
				err = run(ctx, uint64(first)+uint64(i*each), n, cut(segments, from, n*k.Sector()), k.sgl)
			}
			if err != nil {
				errs[i] = k.fail(op, b, from, err)
			}
		})
	}
	wg.Wait()
	errs = slices.DeleteFunc(errs, func(e *Error) bool { return e == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return errs
}

// cut are the addresses of n bytes of a Block from byte from on.
func cut(segments []Segment, from, n int) (spans []nvme.Span) {
	at, left := uint64(from), uint64(n)
	for _, s := range segments {
		if left == 0 {
			break
		}
		if at >= s.Length {
			at -= s.Length
			continue
		}
		k := min(left, s.Length-at)
		spans = append(spans, nvme.Span{At: s.Address + at, Size: k})
		left, at = left-k, 0
	}
	return spans
}

// fail makes an Error of what the host returned.
func (k *Disk) fail(op string, b *unimem.Block, offset int, err error) *Error {
	e := &Error{Op: op, Offset: offset, Err: ErrTransfer, Cause: err}
	if b != nil {
		e.Block = b.ID()
	}
	var s nvme.Status
	switch {
	case errors.As(err, &s):
		e.Cause = &Status{Type: uint8(s >> 8 & 7), Code: uint8(s), Text: s.String()}
		if s == nvme.DataTransferError {
			e.Err = ErrFault
			e.Hint = "the mapping was withdrawn during the transfer: Release a Block after its reads"
		}
		if s == nvme.WriteProtected {
			e.Err, e.Hint = ErrReadOnly, "open the disk with Writable"
		}
	case errors.Is(err, nvme.ErrHostClosed):
		e.Err, e.Cause = ErrClosed, nil
	}
	return e
}
