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

// Read reads count sectors, from sector first on, to the bytes of b from offset on, a multiple of Sector. The Disk's
// Device has mapped b by Segments. Read splits the sectors into commands of at most 1 MiB, and keeps up to 32 of them
// in flight.
//
// After an error any of the bytes may be changed. If ctx ends, Read aborts the commands in flight and waits up
// to 2 s for them. An access that has begun holds the pages until it ends, also after Read has returned, and
// Release waits for it.
//
// Errors: ErrNotMapped, ErrRange, ErrFault (the mapping was withdrawn during the call), ErrClosed, and ErrTransfer with
// a *Status or the cause of ctx. If several commands fail, the error is Errors, with an *Error for each.
func (k *Disk) Read(ctx context.Context, b *unimem.Block, offset int, first int64, count int) error {
	return k.transfer(ctx, "read", k.host.Read, b, offset, first, count)
}

// Write is Read in the other direction: it writes the bytes of b to the sectors. The file's storage has them after
// Flush. Bytes for the part of the last sector that is after the end of the file have to be zeros. After an error any
// of the sectors may be written.
//
// Errors: those of Read; ErrReadOnly for a disk without Writable.
func (k *Disk) Write(ctx context.Context, b *unimem.Block, offset int, first int64, count int) error {
	return k.transfer(ctx, "write", k.host.Write, b, offset, first, count)
}

// Flush returns when the data of earlier calls of Write is on the file's storage, as fsync does. On a disk without
// Writable it does nothing.
//
// Errors: ErrClosed, and ErrTransfer with a *Status or the cause of ctx.
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

// transfer is Read and Write: run moves the data of one command.
func (k *Disk) transfer(ctx context.Context, op string, run func(context.Context, uint64, int, []nvme.Span) error,
	b *unimem.Block, offset int, first int64, count int) error {
	if b == nil {
		return failure(op, nil, offset, ErrNotMapped, nil, "the Block is nil")
	}
	segments := k.d.mappedSegments(b)
	switch {
	case segments == nil:
		return failure(op, b, offset, ErrNotMapped, nil, "call Segments first")
	case first < 0 || count < 1 || first > k.Blocks() || int64(count) > k.Blocks()-first:
		return failure(op, b, offset, ErrRange, nil, fmt.Sprintf("%d sectors from %d on, of %d", count, first,
			k.Blocks()))
	case offset < 0 || offset%Sector != 0 || offset > b.Size() || count > (b.Size()-offset)/Sector:
		return failure(op, b, offset, ErrRange, nil, fmt.Sprintf("%d sectors of %d bytes, from byte %d on, of %d", count,
			Sector, offset, b.Size()))
	}
	const each = nvme.MaxTransfer / Sector
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
				err = run(ctx, uint64(first)+uint64(i*each), n, cut(segments, from, n*Sector))
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

// cut returns the addresses of n bytes of a Block, from byte from on.
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

// fail makes an Error of what the host returned. b may be nil.
func (k *Disk) fail(op string, b *unimem.Block, offset int, err error) *Error {
	var s nvme.Status
	switch {
	case errors.Is(err, nvme.ErrHostClosed):
		return failure(op, b, offset, ErrClosed, nil, "")
	case !errors.As(err, &s):
		return failure(op, b, offset, ErrTransfer, err, "")
	}
	e := failure(op, b, offset, ErrTransfer, &Status{Type: uint8(s >> 8 & 7), Code: uint8(s), Text: s.String()}, "")
	switch s {
	case nvme.DataTransferError:
		e.Err, e.Hint = ErrFault, "the mapping was withdrawn during the transfer: Release a Block after its reads"
	case nvme.WriteProtected:
		e.Err, e.Hint = ErrReadOnly, "open the disk with Writable"
	}
	return e
}
