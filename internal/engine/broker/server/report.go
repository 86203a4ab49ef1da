package server

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// clientMemory is the memory of clients that the broker has mapped.
type clientMemory struct {
	mu     sync.Mutex
	mapped map[fileID]int // how often
}

// adopt maps memory of a client. Whoever finds the mapping meanwhile waits in has.
func (r *clientMemory) adopt(fd int, size uint64) (*unimem.Block, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b *unimem.Block
	// A descriptor of its own: closing that of a socket could wait for the client.
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err == nil {
		defer f.Close()
		b, err = unimem.Adopt(f, int(size))
	}
	if errors.Is(err, unimem.ErrSize) {
		err = ane.Because(ane.ErrShort, err)
	}
	if err != nil {
		return nil, &ane.Error{Op: "surface", Engine: Name, Err: err,
			Hint: "send the descriptor that Block.Share returns, and the size of the Block"}
	}
	r.mapped[fileOf(b)]++
	return b, nil
}

// close unmaps it.
func (r *clientMemory) close(b *unimem.Block) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := fileOf(b)
	if r.mapped[id]--; r.mapped[id] == 0 {
		delete(r.mapped, id)
	}
	return b.Close()
}

// has reports whether a client registered the memory.
func (r *clientMemory) has(id fileID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mapped[id] > 0
}

// report tells how one surface of this client is mapped, and what the process has beside all surfaces. A token names
// surfaces of this connection only, so the answer is about no other.
func (c *session) report(payload []byte) (wire.Payload, error) {
	var q wire.Report
	if err := q.Parse(payload); err != nil {
		return nil, err
	}
	s := c.surfaces.table.find(q.Surface)
	if s == nil {
		return nil, unknown("report", "surface", q.Surface)
	}
	p := &wire.Reported{PID: pid(), Frames: make([]uint64, q.Pages), Address: uint64(s.block.Address())}
	p.Hidden = !frames(p.Frames, s.block, p.Address, int(q.Page))
	end := p.Address + s.size
	if !q.Memory {
		return p, nil
	}
	var of, rest procmem.Amounts
	err := procmem.Mappings(0, func(m *procmem.Mapping) {
		switch id := (fileID{m.Device, m.Inode}); {
		case m.Start < end && p.Address < m.End:
			if m.Start <= p.Address {
				p.Mapping.Device, p.Mapping.Inode, p.Mapping.Shared = m.Device, m.Inode, m.Shared
				p.Mapping.Offset = m.Offset + p.Address - m.Start
			}
			p.Mapping.Shared = p.Mapping.Shared && m.Shared
			of.Add(m.Amounts)
		case !m.OnDisk() && !c.mapped.has(id):
			rest.Add(m.Amounts)
		}
	})
	if err != nil {
		return nil, &ane.Error{Op: "report", Engine: Name, Err: err, Hint: "check that /proc is mounted"}
	}
	p.Mapping.Amounts, p.Rest = amounts(of), amounts(rest)
	return p, nil
}

// frames looks up the pages of a surface from one on, and reports whether the system shows them. They are touched
// first: the kernel has no entry for a page that this process has not used.
func frames(to []uint64, b *unimem.Block, address uint64, page int) (shown bool) {
	memory, size := b.Bytes(), os.Getpagesize()
	n := min(len(to), (len(memory)+size-1)/size-page)
	if n <= 0 {
		return false
	}
	for i := range n {
		touch(memory[(page+i)*size:][:1])
	}
	found, shown := procmem.Frames(0, address+uint64(page*size), n)
	copy(to, found)
	return shown
}

// touch reads the first and the last byte.
//
//go:noinline
func touch(b []byte) byte { return b[0] ^ b[len(b)-1] }

func amounts(a procmem.Amounts) wire.Amounts {
	return wire.Amounts{Resident: uint64(a.Resident), Proportional: uint64(a.Proportional),
		PrivateDirty: uint64(a.PrivateDirty)}
}
