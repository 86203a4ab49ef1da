package nvme

import (
	"errors"
	"io"

	"github.com/anekit/anekit/internal/dart"
)

// chunk is the most that the controller moves in one access, which Unmap of its memory waits for.
const chunk = 256 << 10

// io runs a command of an I/O queue, without the lock.
func (n *Controller) io(e *epoch, c *Command, f *flight) Status {
	switch {
	case c.Opcode != Flush && c.Opcode != Read:
		return InvalidOpcode
	case c.Opcode == Flush && c.Namespace == 0xffffffff:
		return Success
	case c.Namespace != 1:
		return InvalidNamespace
	case c.Opcode == Flush:
		return Success
	}
	first := uint64(c.Words[0]) | uint64(c.Words[1])<<32
	count := uint64(c.Words[2]&0xffff) + 1
	size := count * uint64(n.c.Sector)
	switch {
	case first > n.blocks || count > n.blocks-first:
		return LBARange
	case size > MaxTransfer:
		return InvalidField
	}
	spans, status := pointers(n.c.Table, c, size, e.page)
	if status != Success {
		return status
	}
	off := int64(first) * int64(n.c.Sector)
	for _, s := range join(spans) {
		for s.n > 0 {
			if n.ended(e, f) {
				return AbortRequested
			}
			k := min(s.n, chunk)
			if status := n.move(s.at, k, off); status != Success {
				return status
			}
			s.at, s.n, off = s.at+k, s.n-k, off+int64(k)
		}
	}
	return Success
}

// join makes one span of spans that follow each other.
func join(spans []span) []span {
	all := spans[:1]
	for _, s := range spans[1:] {
		if last := &all[len(all)-1]; last.at+last.n == s.at {
			last.n += s.n
		} else {
			all = append(all, s)
		}
	}
	return all
}

// ended reports whether a command should end early.
func (n *Controller) ended(e *epoch, f *flight) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return e.over || f.aborted
}

// move reads k bytes of the media at off to a device address.
func (n *Controller) move(at, k uint64, off int64) Status {
	err := n.c.Table.Do(at, k, dart.Write, func(mem []byte) error {
		bounced, err := n.read(mem, off)
		if err != nil {
			return err
		}
		off += int64(len(mem))
		n.mu.Lock()
		defer n.mu.Unlock()
		n.stats.Read += uint64(len(mem))
		if bounced {
			n.stats.Bounced += uint64(len(mem))
		}
		return nil
	})
	var fault *dart.Fault
	switch {
	case err == nil:
		return Success
	case errors.As(err, &fault):
		return DataTransferError
	}
	return UnrecoveredReadErr
}

// read fills mem with the media at off. What lies after the end reads as zeros, but only within the last sector.
func (n *Controller) read(mem []byte, off int64) (bounced bool, err error) {
	a := int64(n.c.Align)
	last := min(off+int64(len(mem)), n.c.Size) // of the bytes that there are
	if off >= last {
		clear(mem)
		return false, nil
	}
	want := int(last - off)
	if a == 1 || off%a == 0 && int64(len(mem))%a == 0 && aligned(mem, n.c.Align) {
		got, err := full(n.c.Media, mem, off, want)
		if got < want {
			return false, err
		}
		clear(mem[want:])
		return false, nil
	}
	from := off - off%a
	own := alignedBytes(int((off+int64(len(mem))-from+a-1)/a*a), n.c.Align)
	need := int(last - from)
	if got, err := full(n.c.Media, own, from, need); got < need {
		return true, err
	}
	copy(mem, own[off-from:][:want])
	clear(mem[want:])
	return true, nil
}

// full reads at least need bytes to the beginning of mem, which may be longer. Reads that end early are repeated.
func full(media io.ReaderAt, mem []byte, off int64, need int) (got int, err error) {
	for got < need {
		k, err := media.ReadAt(mem[got:], off+int64(got))
		got += k
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return got, err
		}
		if k == 0 {
			return got, io.ErrNoProgress
		}
	}
	return got, nil
}
