package resources

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// registration is memory of the client, which is mapped while it is registered.
type registration struct {
	block *unimem.Block
	size  uint64
	name  uint32 // by which the driver knows it
	users int    // ports of requests
}

// Registrations are the surfaces that one client has registered.
type Registrations struct {
	driver *driver.Driver
	dev    *Device
	owes   *Account
	table  table[registration] // by the client's token
}

// needs is what a surface takes: the descriptor of its Block, and two mappings, one by the Block and one by the engine.
// Pages that no process has touched are charged to the one that does, so the broker counts them all.
func (s *registration) needs() Needs {
	return Needs{Mappings: 2, Descriptors: 1, Memory: int64(s.size)}
}

// Len is how many there are.
func (t *Registrations) Len() int { return t.table.len() }

// Add registers memory.
func (t *Registrations) Add(p *wire.Surface, fds wire.Descriptors) (*wire.Empty, error) {
	if len(fds) != 1 {
		return nil, &wire.Error{Op: "surface", Field: "descriptors", Err: wire.ErrDescriptors,
			Detail: fmt.Sprintf("%d came, not 1", len(fds)), Hint: "send the memfd of the surface"}
	}
	name := fmt.Sprintf("surface %d", p.Token)
	switch {
	case p.Size == 0 || p.Size > math.MaxInt64:
		return nil, &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrShort,
			Detail: fmt.Sprintf("%d bytes", p.Size), Hint: "register the whole Block"}
	case t.table.find(p.Token) != nil:
		return nil, &ane.Error{Op: "surface", Engine: Name, Name: name, Err: ane.ErrInUse,
			Hint: "choose a token that is free, or drop the surface"}
	case t.table.len() >= MaxSurfaces:
		return nil, Exhausted("surface", name, "surfaces", MaxSurfaces, "drop surfaces that no request uses")
	}
	s := &registration{size: p.Size}
	if err := t.owes.Take("surface", name, s.needs()); err != nil {
		return nil, err
	}
	if err := t.open(s, fds[0]); err != nil {
		t.owes.Give(s.needs())
		return nil, err
	}
	t.table.put(p.Token, s)
	return &wire.Empty{}, nil
}

// open maps a surface, and makes it known to the driver.
func (t *Registrations) open(s *registration, fd int) error {
	// A descriptor of its own: closing that of a socket could wait for the client.
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err == nil {
		defer f.Close()
		s.block, err = unimem.Adopt(f, int(s.size))
	}
	if errors.Is(err, unimem.ErrSize) {
		err = ane.Because(ane.ErrShort, err)
	}
	if err != nil {
		return &ane.Error{Op: "surface", Engine: Name, Err: err,
			Hint: "send the descriptor that Block.Share returns, and the size of the Block"}
	}
	if s.name, err = t.driver.AddSurface(s.block); err != nil {
		return errors.Join(err, s.block.Close())
	}
	if err := t.dev.mapSurface(s.name); err != nil {
		return errors.Join(err, t.driver.Remove(uint64(s.name)), s.block.Close())
	}
	return nil
}

// Drop forgets memory that no request uses.
func (t *Registrations) Drop(p *wire.Drop) (*wire.Empty, error) {
	s := t.table.find(p.Token)
	if s == nil {
		return nil, Unknown("drop", "surface", p.Token)
	}
	if s.users > 0 {
		return nil, &ane.Error{Op: "drop", Engine: Name, Name: fmt.Sprintf("surface %d", p.Token), Err: ane.ErrInUse,
			Hint: "unbind its requests first"}
	}
	if err := t.dev.unmapSurface(s.name); err != nil {
		return nil, err
	}
	t.table.remove(p.Token)
	return &wire.Empty{}, t.close(s)
}

// close undoes open when the driver has unmapped the surface.
func (t *Registrations) close(s *registration) error {
	t.owes.Give(s.needs())
	if err := t.driver.Remove(uint64(s.name)); err != nil {
		return err
	}
	return s.block.Close()
}

// free closes everything. The driver has ended its client.
func (t *Registrations) free() (err error) {
	for _, s := range t.table.all() {
		err = errors.Join(err, t.close(s))
	}
	return err
}
