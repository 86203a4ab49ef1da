package server

import (
	"errors"
	"fmt"
	"os"

	"github.com/anekit/anekit/ane"
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

// fileID tells files apart, whatever descriptors lead to them.
type fileID [2]uint64 // device, inode

// addSurface registers memory. Its seals and its size are checked now, so that who
// sends a wrong descriptor learns it here.
func (c *session) addSurface(f *wire.Frame, fds wire.Descriptors) error {
	var p wire.Surface
	if err := p.Parse(f.Payload); err != nil {
		return err
	}
	if len(fds) != 1 {
		return descriptors("surface", 1, len(fds))
	}
	if err := c.roomFor(&p); err != nil {
		return err
	}
	file, at, err := keep(fds[0], p.Size)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.surfaces[p.Token] = &surface{file: file, at: at, size: p.Size}
	c.pinned += p.Size
	c.mu.Unlock()
	return c.reply(f, &wire.SurfaceReply{Token: p.Token})
}

// descriptors is the answer to a frame with more or fewer than belong to it.
func descriptors(op string, want, have int) error {
	return &wire.Error{Op: op, Field: "descriptors", Err: wire.ErrDescriptors,
		Detail: fmt.Sprintf("%d came, not %d", have, want), Hint: "send the memfds that the kind asks for"}
}

// roomFor refuses a surface that is one too many, or too large.
func (c *session) roomFor(p *wire.Surface) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fmt.Sprintf("surface %d", p.Token)
	switch {
	case p.Size == 0:
		return &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrShort, Detail: "0 bytes", Hint: "register the whole Block"}
	case c.surfaces[p.Token] != nil:
		return &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrInUse, Hint: "choose a token that is free, or drop the surface"}
	case len(c.surfaces) >= MaxSurfaces:
		return exhausted("surface", name, "surfaces", MaxSurfaces, "drop surfaces that no request uses")
	case p.Size > c.conf.PinBytes-c.pinned:
		return &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("%d bytes beside %d, at most %d for one client", p.Size, c.pinned, c.conf.PinBytes),
			Hint:   "drop surfaces that no request uses, or take a smaller one"}
	}
	return nil
}

// dropSurface forgets memory that no request uses.
func (c *session) dropSurface(f *wire.Frame) error {
	var p wire.Drop
	if err := p.Parse(f.Payload); err != nil {
		return err
	}
	c.mu.Lock()
	s := c.surfaces[p.Token]
	if s == nil {
		c.mu.Unlock()
		return unknown("drop", "surface", p.Token)
	}
	if s.users > 0 {
		c.mu.Unlock()
		return &ane.Error{Op: "drop", Engine: Name, Name: fmt.Sprintf("surface %d", p.Token), Err: ane.ErrInUse, Hint: "unbind its requests first"}
	}
	delete(c.surfaces, p.Token)
	c.pinned -= s.size
	c.mu.Unlock()
	if err := c.unmap(s); err != nil {
		return err
	}
	return c.reply(f, &wire.Empty{})
}

// open maps a surface, for the first request that names it.
func (c *session) open(s *surface) error {
	if s.block != nil {
		return nil
	}
	b, err := unimem.Adopt(s.file, int(s.size))
	if err != nil {
		return &ane.Error{Op: "bind", Engine: Name, Err: err}
	}
	name, err := c.driver.AddSurface(b)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	if err := c.dev.mapSurface(name); err != nil {
		return errors.Join(err, c.driver.RemoveSurface(name), b.Close())
	}
	s.block, s.name = b, name
	err = s.file.Close() // the Block has a descriptor of its own
	s.file = nil
	return err
}

// unmap undoes open while the client lives.
func (c *session) unmap(s *surface) error {
	if s.block == nil {
		return s.file.Close()
	}
	if err := c.dev.unmapSurface(s.name); err != nil {
		return err
	}
	return c.lose(s)
}

// lose undoes open when the driver has undone its part.
func (c *session) lose(s *surface) error {
	if s.block == nil {
		return s.file.Close()
	}
	if err := c.driver.RemoveSurface(s.name); err != nil {
		return err
	}
	return s.block.Close()
}
