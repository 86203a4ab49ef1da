package server

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// surface is memory of the client, which is mapped while it is registered.
type surface struct {
	block *unimem.Block
	size  uint64
	name  uint32 // by which the driver knows it
	users int    // ports of requests
}

// surfaces is the memory that one client has registered. The session's turn guards it.
type surfaces struct {
	driver *driver.Driver
	dev    *device
	table  table[surface] // by the client's token
	pinned uint64         // bytes of all
	limit  uint64         // of pinned
	owes   *accounts
}

// needs is what a surface takes: the descriptor of its Block, and two mappings, one by the Block and one by the engine.
// Pages that no process has touched are charged to the one that does, so the broker counts them all.
func (s *surface) needs() needs { return needs{mappings: 2, descriptors: 1, memory: int64(s.size)} }

// add registers memory.
func (t *surfaces) add(payload []byte, fds wire.Descriptors) (wire.Payload, error) {
	var p wire.Surface
	if err := wire.Parse(payload, &p); err != nil {
		return nil, err
	}
	if len(fds) != 1 {
		return nil, descriptors("surface", 1, len(fds))
	}
	if err := t.roomFor(&p); err != nil {
		return nil, err
	}
	s := &surface{size: p.Size}
	if err := t.owes.take("surface", fmt.Sprintf("surface %d", p.Token), s.needs()); err != nil {
		return nil, err
	}
	if err := t.open(s, fds); err != nil {
		t.owes.give(s.needs())
		return nil, err
	}
	t.table.put(p.Token, s)
	t.pinned += p.Size
	return &wire.SurfaceReply{Token: p.Token}, nil
}

// descriptors is the answer to a frame with more or fewer than belong to it.
func descriptors(op string, want, have int) error {
	return &wire.Error{Op: op, Field: "descriptors", Err: wire.ErrDescriptors,
		Detail: fmt.Sprintf("%d came, not %d", have, want), Hint: "send the memfds that the kind asks for"}
}

// roomFor refuses a surface that is one too many, or too large.
func (t *surfaces) roomFor(p *wire.Surface) error {
	name := fmt.Sprintf("surface %d", p.Token)
	switch {
	case p.Size == 0:
		return &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrShort, Detail: "0 bytes",
			Hint: "register the whole Block"}
	case t.table.find(p.Token) != nil:
		return &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrInUse,
			Hint: "choose a token that is free, or drop the surface"}
	case t.table.len() >= MaxSurfaces:
		return exhausted("surface", name, "surfaces", MaxSurfaces, "drop surfaces that no request uses")
	case p.Size > t.limit-t.pinned:
		return &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("%d bytes beside %d, at most %d for one client", p.Size, t.pinned, t.limit),
			Hint:   "drop surfaces that no request uses, or take a smaller one"}
	}
	return nil
}

// drop forgets memory that no request uses.
func (t *surfaces) drop(payload []byte) (wire.Payload, error) {
	var p wire.Drop
	if err := wire.Parse(payload, &p); err != nil {
		return nil, err
	}
	s := t.table.find(p.Token)
	if s == nil {
		return nil, unknown("drop", "surface", p.Token)
	}
	if s.users > 0 {
		return nil, &ane.Error{Op: "drop", Engine: Name, Name: fmt.Sprintf("surface %d", p.Token), Err: ane.ErrInUse,
			Hint: "unbind its requests first"}
	}
	if err := t.dev.unmapSurface(s.name); err != nil {
		return nil, err
	}
	t.table.remove(p.Token)
	t.pinned -= s.size
	return &wire.Empty{}, t.close(s)
}

// open maps a surface, and makes it known to the driver.
func (t *surfaces) open(s *surface, fds wire.Descriptors) error {
	b, err := adopt(fds[0], s.size)
	if err != nil {
		return err
	}
	s.block = b
	if s.name, err = t.driver.AddSurface(b); err != nil {
		return errors.Join(err, b.Close())
	}
	if err := t.dev.mapSurface(s.name); err != nil {
		return errors.Join(err, t.driver.RemoveSurface(s.name), b.Close())
	}
	return nil
}

// adopt maps memory of a client.
func adopt(fd int, size uint64) (*unimem.Block, error) {
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
	return b, nil
}

// close undoes open when the driver has unmapped the surface.
func (t *surfaces) close(s *surface) error {
	t.owes.give(s.needs())
	if err := t.driver.RemoveSurface(s.name); err != nil {
		return err
	}
	return s.block.Close()
}

// free closes everything. The driver has ended its client.
func (t *surfaces) free() error {
	var errs []error
	for _, s := range t.table.all() {
		errs = append(errs, t.close(s))
	}
	return errors.Join(errs...)
}
