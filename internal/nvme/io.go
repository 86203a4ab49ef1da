package nvme

import (
	"bytes"
	"errors"
	"io"

	"github.com/anekit/anekit/internal/dart"
)

// chunk is the most that the controller moves in one access, which Unmap of its memory waits for.
const chunk = 256 << 10

// io runs a command of the I/O queue, without the lock.
func (n *Controller) io(c *Command, f *flight) Status {
	switch {
	case c.Opcode != Flush && c.Opcode != Read && c.Opcode != Write:
		return InvalidOpcode
	case c.Namespace != 1:
		return InvalidNamespace
	case c.Opcode == Flush:
		return n.flush()
	case c.Opcode == Write && n.c.Store == nil:
		return WriteProtected
	}
	first := uint64(c.Words[0]) | uint64(c.Words[1])<<32
	count := uint64(c.Words[2]&0xffff) + 1
	switch {
	case first > n.blocks || count > n.blocks-first:
		return LBARange
	case count*Sector > MaxTransfer:
		return InvalidField
	}
	spans, status := pointers(n.c.Table, c, count*Sector)
	if status != Success {
		return status
	}
	off := int64(first) * Sector
	for _, s := range join(spans) {
		for s.Size > 0 {
			if n.ended(f) {
				return AbortRequested
			}
			k := min(s.Size, chunk)
			if status := n.move(c.Opcode, s.At, k, off); status != Success {
				return status
			}
			s.At, s.Size, off = s.At+k, s.Size-k, off+int64(k)
		}
	}
	return Success
}

// join makes one Span of Spans that follow each other.
func join(spans []Span) []Span {
	all := spans[:1]
	for _, s := range spans[1:] {
		if last := &all[len(all)-1]; last.At+last.Size == s.At {
			last.Size += s.Size
		} else {
			all = append(all, s)
		}
	}
	return all
}

// ended reports whether a command should end early.
func (n *Controller) ended(f *flight) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.over || f.aborted
}

// flush syncs the media, so that they keep what was written before.
func (n *Controller) flush() Status {
	if n.c.Store != nil && n.c.Store.Sync() != nil {
		return WriteFault
	}
	return Success
}

// move moves k bytes between a device address and the media at off.
func (n *Controller) move(opcode uint8, at, k uint64, off int64) Status {
	access, one, failed := dart.Write, n.read, UnrecoveredReadErr
	if opcode == Write {
		access, one, failed = dart.Read, n.write, WriteFault
	}
	err := n.c.Table.Do(at, k, access, func(mem []byte) error {
		err := one(mem, off)
		off += int64(len(mem))
		return err
	})
	var fault *dart.Fault
	switch {
	case err == nil:
		return Success
	case errors.As(err, &fault):
		return DataTransferError
	}
	return failed
}

// here is how many of n bytes from off on the media have.
func (n *Controller) here(size int, off int64) int {
	return int(max(0, min(int64(size), n.c.Size-off)))
}

// read fills mem with the media at off. What lies after the end reads as zeros. Reads that end early are repeated.
func (n *Controller) read(mem []byte, off int64) error {
	need := n.here(len(mem), off)
	for got := 0; got < need; {
		k, err := n.c.Media.ReadAt(mem[got:], off+int64(got))
		switch got += k; {
		case got >= need: // the end of the media is an error of ReadAt
		case err != nil:
			return err
		case k == 0:
			return io.ErrNoProgress
		}
	}
	clear(mem[need:])
	return nil
}

// errBeyond reports bytes other than zero for the part of the last sector that the media do not have.
var errBeyond = errors.New("nvme: data after the end of the media")

// write writes mem to the media at off. What lies after the end has to be zeros, and is dropped.
func (n *Controller) write(mem []byte, off int64) error {
	here := n.here(len(mem), off)
	if len(bytes.Trim(mem[here:], "\x00")) > 0 {
		return errBeyond
	}
	if here == 0 {
		return nil
	}
	_, err := n.c.Store.WriteAt(mem[:here], off)
	return err
}
