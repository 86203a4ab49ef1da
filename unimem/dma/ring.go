package dma

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/uring"
)

const (
	// ringReads is how many reads a Ring has in flight.
	ringReads = 32
	// ringPart is the length of one of them.
	ringPart = 1 << 20
)

// Ring reads files to Blocks through io_uring of Linux, with a real disk's DMA. The kernel resolves and pins the
// Blocks' pages once. With a file of OpenFile the disk writes straight to them. All methods are safe for concurrent
// use; a Read waits for the Read before it.
type Ring struct {
	ring   *uring.Ring
	blocks map[*unimem.Block]int
	why    error // the Blocks are not registered; nil if they are

	busy   chan struct{} // has a value while a Read or Close runs, and guards closed
	closed bool
}

// OpenRing makes a Ring that reads to blocks, and registers and retains them until Close. If only the registration
// fails, such as by the limit on locked memory, the Ring works without it.
//
// Errors: ErrUnavailable with the reason (the kernel has no io_uring, or a filter or setting refuses it; the caller
// then reads with ReadAt), ErrReadOnly, unimem.ErrClosed.
func OpenRing(blocks ...*unimem.Block) (*Ring, error) {
	ring, err := uring.Open(ringReads)
	if err != nil {
		return nil, failure("ring", nil, -1, ErrUnavailable, err, "")
	}
	r := &Ring{ring: ring, blocks: map[*unimem.Block]int{}, busy: make(chan struct{}, 1)}
	var mem [][]byte
	for _, b := range blocks {
		if _, known := r.blocks[b]; known {
			continue
		}
		var refused error
		switch {
		case b == nil:
			refused = unimem.ErrClosed
		case b.ReadOnly():
			refused = ErrReadOnly
		case b.Retain() != nil:
			refused = unimem.ErrClosed
		}
		if refused != nil {
			return nil, errors.Join(failure("ring", b, -1, refused, nil, ""), r.Close())
		}
		r.blocks[b] = len(mem)
		mem = append(mem, b.Bytes())
	}
	r.why = ring.Register(mem...)
	return r, nil
}

// OpenFile opens a file for reading, past the page cache where the system and the file system permit that; then direct
// is true. Direct reads begin at multiples of 4096 bytes, in the file and in the Block, and have whole multiples.
//
// Errors: those of os.OpenFile, and an os.PathError for a directory and for a named pipe, whose open would wait for a
// writer.
func OpenFile(path string) (f *os.File, direct bool, err error) { return openFile(path, os.O_RDONLY) }

// openFile is OpenFile with flags of os.OpenFile.
func openFile(path string, flags int) (f *os.File, direct bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, false, &os.PathError{Op: "open", Path: path, Err: errors.New("it is a directory")}
	case err == nil && info.Mode()&os.ModeNamedPipe != 0:
		return nil, false, &os.PathError{Op: "open", Path: path, Err: errors.New("it is a named pipe")}
	}
	return openMedia(path, flags)
}

// Read reads n bytes of f, from byte at on, to the bytes of b from offset on, with up to 32 reads of 1 MiB in
// flight. It returns how many of them it has read without a gap, and an error for fewer than n. If ctx ends, Read
// cancels what is in flight and waits for it; a Read that waits for another one returns at once.
//
// Errors: ErrNotMapped (b was not given to OpenRing), ErrRange, ErrClosed, ErrTransfer with the error of the system or
// the cause of ctx, ErrUnavailable (the system refuses reads, although it has made the Ring), and io.EOF at the end of
// the file.
func (r *Ring) Read(ctx context.Context, f *os.File, at int64, b *unimem.Block, offset, n int) (int, error) {
	fail := func(off int, err, cause error, hint string) error { return failure("read", b, off, err, cause, hint) }
	number, known := r.blocks[b]
	switch {
	case b == nil || !known:
		return 0, fail(offset, ErrNotMapped, nil, "give the Block to OpenRing")
	case at < 0 || n < 0 || offset < 0 || offset > b.Size() || n > b.Size()-offset:
		return 0, fail(offset, ErrRange, nil, fmt.Sprintf("%d bytes of %d", n, b.Size()))
	}
	if r.why != nil {
		number = -1
	}
	select {
	case r.busy <- struct{}{}:
	case <-ctx.Done(): // another Read runs
		return 0, fail(offset, ErrTransfer, context.Cause(ctx), "")
	}
	defer func() { <-r.busy }()
	if r.closed {
		return 0, fail(offset, ErrClosed, nil, "")
	}
	var reads []*uring.Read
	got := make([]int, (n+ringPart-1)/ringPart)
	for i := range got {
		from := i * ringPart
		mem := b.Bytes()[offset+from : offset+min(from+ringPart, n)]
		reads = append(reads, &uring.Read{Mem: mem, Off: at + int64(from), Memory: number})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed error
	err := r.ring.Read(ctx, f, reads, func(i int) bool {
		x := reads[i]
		if x.Err != nil {
			if failed == nil {
				failed = fail(offset+i*ringPart+got[i], ErrTransfer, x.Err, "")
				cancel(failed)
			}
			return false
		}
		got[i] += x.N
		if x.N == 0 || x.N == len(x.Mem) {
			return false
		}
		x.Mem, x.Off = x.Mem[x.N:], x.Off+int64(x.N)
		return true
	})
	total := 0
	for i, k := range got {
		if total += k; k < min(ringPart, n-i*ringPart) {
			break
		}
	}
	switch {
	case failed != nil:
		return total, failed
	case errors.Is(err, uring.ErrUnavailable): // a filter of io_uring_enter, which OpenRing does not call
		return total, fail(offset+total, ErrUnavailable, err, "read with ReadAt")
	case err != nil:
		return total, fail(offset+total, ErrTransfer, err, "")
	case total < n:
		return total, io.EOF
	}
	return total, nil
}

// Close waits for a Read in flight, unregisters and releases the Blocks, once; repeating it returns nil. The error is
// that of a system call.
func (r *Ring) Close() error {
	r.busy <- struct{}{}
	defer func() { <-r.busy }()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.ring.Close()
	for b := range r.blocks {
		b.Release()
	}
	return err
}
