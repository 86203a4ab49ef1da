package driver

import (
	"slices"

	"github.com/anekit/anekit/ane/driverabi"
)

// mapping is a client's claim to a surface's device range.
type mapping struct {
	surface *surface
	count   int
}

// mapMemory maps all surfaces that the structure lists, or none, and answers the
// device address of the one that the scalar selects. A surface has one contiguous
// range, whoever maps it and however often; every claim counts.
func mapMemory(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var room [driverabi.MaxSurfaces]uint32
	x := Memory{Surfaces: room[:0]}
	if !x.decode(a.StructIn) || a.ScalarIn[0] >= uint64(len(x.Surfaces)) {
		return c.refuse(driverabi.BadArgument, "count of surfaces, or which of them to answer", nil)
	}
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.closing || c.barred > 0 {
		return c.refuse(driverabi.NotOpen, "the connection is closing", nil)
	}
	for _, id := range x.Surfaces {
		if d.surfaces[id] == nil {
			return c.refuse(driverabi.BadArgument, "no surface of this number", nil)
		}
	}
	for i, id := range x.Surfaces {
		if !c.claim(d.surfaces[id]) {
			for _, id := range x.Surfaces[:i] {
				c.unclaim(c.mapped[id])
			}
			return c.refuse(driverabi.NoSpace, "the device's address space is full", nil)
		}
	}
	a.ScalarOut[0] = d.surfaces[x.Surfaces[a.ScalarIn[0]]].at.at
	return driverabi.Success
}

// claim counts one claim more, and gives the surface its range with the first of all.
func (c *Client) claim(s *surface) bool {
	d := c.driver
	if s.users == 0 {
		at, ok := d.iommu.take(uint64(s.block.Size()))
		if !ok {
			return false
		}
		s.at = at
		d.mapped++
	}
	s.users++
	if c.mapped[s.id] == nil {
		c.mapped[s.id] = &mapping{surface: s}
	}
	c.mapped[s.id].count++
	return true
}

// unclaim undoes one claim.
func (c *Client) unclaim(m *mapping) {
	d, s := c.driver, m.surface
	if m.count--; m.count == 0 {
		delete(c.mapped, s.id)
	}
	if s.users--; s.users == 0 {
		d.iommu.give(s.at)
		s.at = span{}
		d.mapped--
	}
}

// unmapMemory undoes one claim for each surface listed, or none at all: Busy while a
// request that is in flight needs what would go.
func unmapMemory(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var room, last [driverabi.MaxSurfaces]uint32
	x := Memory{Surfaces: room[:0]}
	if !x.decode(a.StructIn) {
		return c.refuse(driverabi.BadArgument, "count of surfaces", nil)
	}
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	slices.Sort(x.Surfaces)
	going := last[:0] // surfaces whose last claim is listed
	for i := 0; i < len(x.Surfaces); {
		id, times := x.Surfaces[i], 1
		for i += 1; i < len(x.Surfaces) && x.Surfaces[i] == id; i++ {
			times++
		}
		m := c.mapped[id]
		if m == nil || m.count < times {
			d.mu.Unlock()
			return c.refuse(driverabi.BadArgument, "a surface that this client has not mapped as often", nil)
		}
		if m.count == times {
			going = append(going, id)
		}
	}
	needs := func(b *binding) bool {
		return slices.ContainsFunc(b.surfaces, func(id uint32) bool { return slices.Contains(going, id) })
	}
	if len(going) > 0 && c.anyFlying(needs) {
		d.mu.Unlock()
		return c.refuse(driverabi.Busy, "a request in flight needs a surface", nil)
	}
	var bound []*binding
	if len(going) > 0 {
		bound = c.unbind(needs)
	}
	d.mu.Unlock()
	err := closeAll(bound) // before the ranges go, and the Blocks may
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range x.Surfaces {
		c.unclaim(c.mapped[id])
	}
	if err != nil {
		return c.refuse(resultOf(err), "an invocation did not close cleanly", err)
	}
	return driverabi.Success
}

// dropMappings undoes every claim. No request is in flight and none is let in; the
// caller holds slow.
func (c *Client) dropMappings() {
	d := c.driver
	d.mu.Lock()
	bound := c.unbind(func(*binding) bool { return true })
	d.mu.Unlock()
	_ = closeAll(bound) // nobody is left to hear of it
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range c.mapped {
		for m.count > 0 {
			c.unclaim(m)
		}
	}
}
