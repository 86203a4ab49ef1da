package nvme

import (
	"errors"

	"github.com/anekit/anekit/internal/dart"
)

// chunk is the most that the controller moves in one access, which Unmap of its memory waits for.
const chunk = 256 << 10

// io runs a command of an I/O queue, without the lock.
func (n *Controller) io(e *epoch, c *Command, f *flight) Status {
	switch {
	case c.Opcode != Flush && c.Opcode != Read && c.Opcode != Write:
		return InvalidOpcode
	case c.Opcode == Flush && c.Namespace == 0xffffffff:
		return n.flush()
	case c.Namespace != 1:
		return InvalidNamespace
	case c.Opcode == Flush:
		return n.flush()
	case c.Opcode == Write && n.c.Store == nil:
		return WriteProtected
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
	move := n.load
	if c.Opcode == Write {
		move = n.store
	}
	off := int64(first) * int64(n.c.Sector)
	for _, s := range join(spans) {
		for s.n > 0 {
			if n.ended(e, f) {
				return AbortRequested
			}
			k := min(s.n, chunk)
			if status := move(s.at, k, off); status != Success {
				return status
			}
			s.at, s.n, off = s.at+k, s.n-k, off+int64(k)
		}
	}
	if c.Opcode == Write && c.Words[2]&forceUnit != 0 {
		return n.flush()
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

// count adds n bytes to a counter of Stats.
func (n *Controller) count(to *uint64, bytes int, bounced bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*to += uint64(bytes)
	if bounced {
		n.stats.Bounced += uint64(bytes)
	}
}

// moved is the status of an access of the host's memory: a fault of an address, or media for another error.
func moved(media Status, err error) Status {
	var fault *dart.Fault
	switch {
	case err == nil:
		return Success
	case errors.As(err, &fault):
		return DataTransferError
	}
	return media
}
