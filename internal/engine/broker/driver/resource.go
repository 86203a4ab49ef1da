package driver

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/unimem"
)

// Resources enter beside the ABI, as they do in a kernel: it finds a program's image
// and a surface's pages by other ways than the selector's arguments.

// weights are the files of an adapter.
type weights struct {
	files ane.Weights
	users int // instances made of them
}

// surface is a Block that clients may map.
type surface struct {
	id    uint32
	block *unimem.Block
	at    *dart.Mapping // while mapped
	users int           // clients' mappings, counted
}

// AddProgram makes a program known by a number that cannot be guessed. The caller
// keeps owning it, adds it once, does not load or prepare it, and closes it after RemoveProgram; the
// first client that creates it decides whose Identity it has, until none has it.
func (d *Driver) AddProgram(x ane.Executable) (resource uint64, err error) {
	if x == nil {
		return 0, fault("add", ane.ErrUnavailable, "nil program", "add what Engine.Compile returned")
	}
	if !d.made() {
		return 0, fault("add", ane.ErrClosed, "", "take a driver from New")
	}
	p := &program{exec: x, in: x.Inputs(), out: x.Outputs(), intermediate: token()}
	return d.add(func(id uint64) { d.programs[id] = p })
}

// AddWeights makes weight files known by a number, for ANE_ProgramCreateInstance.
// RemoveProgram forgets them.
func (d *Driver) AddWeights(w ane.Weights) (resource uint64, err error) {
	if w == nil {
		return 0, fault("add", ane.ErrUnavailable, "nil weights", "add the files of the adapter")
	}
	return d.add(func(id uint64) { d.weights[id] = &weights{files: w} })
}

// add finds a number that no resource has.
func (d *Driver) add(put func(id uint64)) (uint64, error) {
	if !d.made() {
		return 0, fault("add", ane.ErrClosed, "", "take a driver from New")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return 0, fault("add", ane.ErrClosed, "", "add to another driver")
	}
	for {
		id := token()
		if d.programs[id] == nil && d.weights[id] == nil {
			put(id)
			return id, nil
		}
	}
}

// RemoveProgram forgets a program or weights. The error matches ane.ErrInUse while a
// client has created it or an instance of it, and ane.ErrName for an unknown number.
func (d *Driver) RemoveProgram(resource uint64) error {
	if !d.made() {
		return fault("remove", ane.ErrClosed, "", "take a driver from New")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, w := d.programs[resource], d.weights[resource]
	switch {
	case p == nil && w == nil:
		return fault("remove", ane.ErrName, "no program or weights of this number", "remove what was added, once")
	case p != nil && p.users > 0, w != nil && w.users > 0:
		return fault("remove", ane.ErrInUse, "a client has it created", "destroy it with every client first")
	}
	delete(d.programs, resource)
	delete(d.weights, resource)
	return nil
}

// AddSurface makes a Block known by a number and holds it. Any client that knows the
// number may map it, as with IOSurface ids: the caller that hands out numbers keeps a table
// of their owners.
func (d *Driver) AddSurface(b *unimem.Block) (id uint32, err error) {
	if b == nil {
		return 0, fault("add", ane.ErrStale, "nil Block", "add one that unimem.Open returned")
	}
	if !d.made() {
		return 0, fault("add", ane.ErrClosed, "", "take a driver from New")
	}
	if err := b.Retain(); err != nil {
		return 0, fault("add", ane.Because(ane.ErrStale, err), "", "add a Block before it is closed")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		b.Release()
		return 0, fault("add", ane.ErrClosed, "", "add to another driver")
	}
	for id == 0 || d.surfaces[id] != nil {
		id = uint32(token())
	}
	d.surfaces[id] = &surface{id: id, block: b}
	return id, nil
}

// RemoveSurface releases the Block. The error matches ane.ErrInUse while a client has
// it mapped, and ane.ErrName for an unknown number. Close has released the Blocks of a driver that it has closed, so
// that a session whose run came back late may remove its surfaces after that.
func (d *Driver) RemoveSurface(id uint32) error {
	if !d.made() {
		return fault("remove", ane.ErrClosed, "", "take a driver from New")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.surfaces[id]
	switch {
	case s == nil && d.stopped:
		return nil
	case s == nil:
		return fault("remove", ane.ErrName, "no surface of this number", "remove what was added, once")
	case s.users > 0:
		return fault("remove", ane.ErrInUse, counted(s.users, "mappings"), "unmap it with every client first")
	}
	delete(d.surfaces, id)
	s.block.Release()
	return nil
}
