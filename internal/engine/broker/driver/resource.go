package driver

import (
	"context"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/unimem"
)

// resource is what clients name by a number: a program, the weights of an adapter or a surface. Resources bypass the
// ABI, as in a kernel: no argument of a selector carries a program's image or a surface's pages.
type resource struct {
	number  uint64
	users   int           // attachments, and clients that have it mapped
	program *program      // of a program
	owner   string        // of a program: Identity of the users
	weights ane.Weights   // of an adapter
	block   *unimem.Block // of a surface
	at      *dart.Mapping // of a surface, while it is mapped
}

// AddProgram makes a program known by a number that cannot be guessed. The caller keeps owning it, adds it once, does
// not load or prepare it, and closes it after Remove. It has the Identity of the first client that creates it, until no
// client has it.
func (d *Driver) AddProgram(x ane.Executable) (number uint64, err error) {
	return d.add(&resource{program: &program{exec: x, in: x.Inputs(), out: x.Outputs(), intermediate: token()}})
}

// AddWeights makes weight files known by a number, for ANE_ProgramCreateInstance.
func (d *Driver) AddWeights(w ane.Weights) (number uint64, err error) {
	return d.add(&resource{weights: w})
}

// AddSurface makes a Block known by a number and holds it until Remove. Any client that knows the
// number may map it, as with IOSurface ids: the caller that hands out numbers keeps a table
// of their owners.
func (d *Driver) AddSurface(b *unimem.Block) (number uint32, err error) {
	if err := b.Retain(); err != nil {
		return 0, fault("add", ane.Because(ane.ErrStale, err), "", "add a Block before it is closed")
	}
	r := &resource{block: b}
	if _, err = d.add(r); err != nil {
		r.release()
	}
	return uint32(r.number), err
}

// add gives r a number that no resource has. That of a surface has 32 bits.
func (d *Driver) add(r *resource) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return 0, fault("add", ane.ErrClosed, "", "add to another driver")
	}
	for r.number == 0 || d.resources[r.number] != nil {
		if r.number = token(); r.block != nil {
			r.number >>= 32
		}
	}
	d.resources[r.number] = r
	return r.number, nil
}

// Remove forgets what was added. The error matches ane.ErrInUse while a client has created or mapped it, or has an
// instance of it, and ane.ErrName for an unknown number. A closed driver returns nil, since a session whose run returns
// late may still remove what it added.
func (d *Driver) Remove(number uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.resources[number]
	switch {
	case r == nil && d.stopped:
		return nil
	case r == nil:
		return fault("remove", ane.ErrName, "nothing of this number", "remove what was added, once")
	case r.users > 0:
		return fault("remove", ane.ErrInUse, counted(r.users, "users"), "destroy or unmap it with every client first")
	}
	delete(d.resources, number)
	r.release()
	return nil
}

// release gives back the Block of a surface.
func (r *resource) release() {
	if r.block != nil {
		r.block.Release()
	}
}

// The device's addresses begin after the first 4 GiB, so that a truncated address is never valid. They end 1 TiB later,
// as far as a tensor may reach (ane.MaxBytes).
const (
	deviceStart = 4 << 30
	deviceSize  = 1 << 40
)

func newIOMMU() *dart.Table { return dart.NewTable(dart.Range{At: deviceStart, Size: deviceSize}) }

// mapMemory maps a surface and answers its device address. A surface has one contiguous
// range, whichever clients map it.
func mapMemory(n *connection, a *driverabi.Args) error {
	c, d := n.client, n.client.driver
	number := Parse[Memory](a.StructIn).Surface
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.resources[uint64(number)]
	switch {
	case s == nil || s.block == nil || a.ScalarIn[0] != 0:
		return refuse(driverabi.BadArgument, fmt.Sprintf("surface %d, scalar %d", number, a.ScalarIn[0]),
			"give a number that the broker has for a surface, and the scalar 0")
	case c.mapped[number] != nil:
		return refuse(driverabi.BadArgument, fmt.Sprintf("surface %d is mapped already", number), "map it once")
	}
	if s.users == 0 {
		at, err := d.iommu.Map(s.block.Bytes(), dart.Options{Access: dart.Read | dart.Write, Most: 1})
		if err != nil {
			return refuse(driverabi.NoSpace, "the device's address space is full", "unmap surfaces that are not needed")
		}
		s.at = at
		d.counts.Mapped++
	}
	s.users++
	c.mapped[number] = s
	a.ScalarOut[0] = s.at.Ranges()[0].At
	return nil
}

// unmapMemory undoes mapMemory: Busy while a request that is in flight needs the surface.
func unmapMemory(n *connection, x Memory) error {
	c := n.client
	s := c.mapped[x.Surface]
	if s == nil {
		return refuse(driverabi.BadArgument, fmt.Sprintf("this client has no surface %d mapped", x.Surface),
			"unmap what was mapped, once")
	}
	key := string(le.AppendUint32(nil, x.Surface))
	bound, err := c.unbind(func(b *binding) bool { return b.names(key) })
	if err != nil {
		return err
	}
	err = closeAll(bound) // before the range goes, and the Block may
	c.unmap(s)
	return err
}

// unmap takes a surface, which nothing bound names, from the client. The caller holds slow.
func (c *Client) unmap(s *resource) {
	d := c.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(c.mapped, uint32(s.number))
	if s.users--; s.users == 0 {
		_ = s.at.Unmap(context.Background()) // no access is in flight: the engine has mappings of its own
		s.at = nil
		d.counts.Mapped--
	}
}

// dropMappings unmaps everything. No request is in flight and none is accepted; the
// caller holds slow.
func (c *Client) dropMappings() {
	bound, _ := c.unbind(func(*binding) bool { return true })
	_ = closeAll(bound) // no caller is left to be told
	for _, s := range c.mapped {
		c.unmap(s)
	}
}
