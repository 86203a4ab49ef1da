package server

import (
	"errors"
	"fmt"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// surface is memory of the client. It is mapped when the first request names it.
type surface struct {
	file  *os.File // until it is mapped
	at    fileID
	size  uint64
	block *unimem.Block // nil before
	name  uint32        // by which the driver knows it
	users int           // ports of requests
}

// surfaces is the memory that one client has registered. The session's turn guards it.
type surfaces struct {
	driver *driver.Driver
	dev    *device
	table  table[surface] // by the client's token
	pinned uint64         // bytes of all
	limit  uint64         // of pinned
	owes   *accounts
	failed error // to give back mappings

	mapped *clientMemory
}

// fileID tells files apart, whatever descriptors lead to them.
type fileID [2]uint64 // device, inode

// add registers memory. It checks seals and size now, so that a client that sends a wrong
// descriptor learns it here.
func (t *surfaces) add(payload []byte, fds wire.Descriptors) (wire.Payload, error) {
	var p wire.Surface
	if err := p.Parse(payload); err != nil {
		return nil, err
	}
	if len(fds) != 1 {
		return nil, descriptors("surface", 1, len(fds))
	}
	if err := t.roomFor(&p); err != nil {
		return nil, err
	}
	if err := t.owes.take("surface", fmt.Sprintf("surface %d", p.Token), registered); err != nil {
		return nil, err
	}
	file, at, err := keep(fds[0], p.Size)
	if err != nil {
		t.owes.give(registered)
		return nil, err
	}
	t.table.put(p.Token, &surface{file: file, at: at, size: p.Size})
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
	if err := p.Parse(payload); err != nil {
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
	t.table.remove(p.Token)
	t.pinned -= s.size
	return &wire.Empty{}, t.unmap(s)
}

// registered is what a surface takes until it is dropped: its file's descriptor, which goes to its Block.
var registered = needs{descriptors: 1}

// mapped is what a surface takes besides while it is mapped: once by its Block, and once by the engine. Pages that no
// process has touched are charged to the one that does, so the broker counts them all.
func (s *surface) mapped() needs { return needs{mappings: 2, memory: int64(s.size)} }

// open maps a surface, for the first request that names it. Surfaces that no request uses give way to it.
func (t *surfaces) open(s *surface) error {
	if s.block != nil {
		return nil
	}
	err := t.owes.take("bind", "", s.mapped())
	if err != nil && t.unmapIdle() {
		err = t.owes.take("bind", "", s.mapped())
	}
	if err != nil {
		return err
	}
	t.mapped.enter(s.at)
	if err := t.mapNow(s); err != nil {
		t.mapped.leave(s.at)
		t.owes.give(s.mapped())
		return err
	}
	return nil
}

func (t *surfaces) mapNow(s *surface) error {
	b, err := unimem.Adopt(s.file, int(s.size))
	if err != nil {
		return &ane.Error{Op: "bind", Engine: Name, Err: err}
	}
	name, err := t.driver.AddSurface(b)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	if err := t.dev.mapSurface(name); err != nil {
		return errors.Join(err, t.driver.RemoveSurface(name), b.Close())
	}
	s.block, s.name = b, name
	err = s.file.Close() // the Block has a descriptor of its own
	s.file = nil
	return err
}

// unmapIdle unmaps the surfaces that no request uses, and reports whether there were any. What cannot be unmapped
// stays as it is.
func (t *surfaces) unmapIdle() (any bool) {
	for _, s := range t.table.all() {
		if s.block == nil || s.users > 0 {
			continue
		}
		file, err := s.block.Share()
		if err != nil {
			continue
		}
		if err := t.dev.unmapSurface(s.name); err != nil {
			_ = file.Close() // the Block stays
			continue
		}
		if err := t.discard(s); err != nil {
			t.failed = errors.Join(t.failed, err)
		}
		s.file, s.block = file, nil
		any = true
	}
	return any
}

// unmap undoes add and open while the client lives.
func (t *surfaces) unmap(s *surface) error {
	if s.block != nil {
		if err := t.dev.unmapSurface(s.name); err != nil {
			return err
		}
	}
	return t.forget(s)
}

// forget undoes add, and open when the driver has undone its part.
func (t *surfaces) forget(s *surface) error {
	t.owes.give(registered)
	if s.block == nil {
		return s.file.Close()
	}
	return t.discard(s)
}

// discard undoes open when the driver has undone its part.
func (t *surfaces) discard(s *surface) error {
	t.owes.give(s.mapped())
	if err := t.driver.RemoveSurface(s.name); err != nil {
		return err
	}
	defer t.mapped.leave(s.at)
	return s.block.Close()
}

// free undoes open for everything. The driver has ended its client.
func (t *surfaces) free() error {
	errs := []error{t.failed}
	for _, s := range t.table.all() {
		errs = append(errs, t.forget(s))
	}
	return errors.Join(errs...)
}
