package driver

import (
	"context"
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// The device's addresses begin after the first 4 GiB, so that a truncated address is never a valid one, and end
// 1 TiB later, as far as a tensor may reach (ane.MaxBytes).
const (
	deviceStart = 4 << 30
	deviceSize  = 1 << 40
)

func newIOMMU() *dart.Table { return dart.NewTable(dart.Range{At: deviceStart, Size: deviceSize}) }

// mapping is a client's claim to a surface's device range.
type mapping struct {
	surface *surface
	count   int
}

// mapMemory maps all surfaces that the structure lists, or none, and answers the
// device address of the one that the scalar selects. A surface has one contiguous
// range, whichever client maps it and however often; every claim counts.
func mapMemory(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var room [driverabi.MaxSurfaces]uint32
	surfaces, ok := listed(a.StructIn, room[:0])
	if !ok || a.ScalarIn[0] >= uint64(len(surfaces)) {
		return c.refuse(driverabi.BadArgument,
			"a count of surfaces that is 0 or too large, or an answer for one that is not listed",
			fmt.Sprintf("list 1 to %d, and let the scalar be the place of one", driverabi.MaxSurfaces), nil)
	}
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.quiet.Load() > 0 {
		return c.refuse(driverabi.NotOpen, "a connection of this client is closing", "call again when it has closed",
			nil)
	}
	for _, id := range surfaces {
		if d.surfaces[id] == nil {
			return c.refuse(driverabi.BadArgument, fmt.Sprintf("no surface has the number %d", id),
				"give numbers that the broker has for surfaces", nil)
		}
	}
	for i, id := range surfaces {
		if !c.claim(d.surfaces[id]) {
			for _, id := range surfaces[:i] {
				c.unclaim(c.mapped[id])
			}
			return c.refuse(driverabi.NoSpace, "the device's address space is full",
				"unmap surfaces that are not needed", nil)
		}
	}
	a.ScalarOut[0] = d.surfaces[surfaces[a.ScalarIn[0]]].at.Ranges()[0].At
	return driverabi.Success
}

// claim counts one claim more, and gives the surface its range with the first of all.
func (c *Client) claim(s *surface) bool {
	d := c.driver
	if s.users == 0 {
		at, err := d.iommu.Map(s.block.Bytes(), dart.Options{Access: dart.Read | dart.Write, Most: 1})
		if err != nil {
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
		_ = s.at.Unmap(context.Background()) // no access is in flight: the engine has mappings of its own
		s.at = nil
		d.mapped--
	}
}

// unmapMemory undoes one claim for each surface listed, or none at all: Busy while a
// request that is in flight needs what would go.
func unmapMemory(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var room, last [driverabi.MaxSurfaces]uint32
	surfaces, ok := listed(a.StructIn, room[:0])
	if !ok {
		return c.refuse(driverabi.BadArgument, "a count of surfaces that is 0 or too large",
			fmt.Sprintf("list 1 to %d", driverabi.MaxSurfaces), nil)
	}
	c.slow.Lock()
	defer c.slow.Unlock() // which keeps bindings and mappings as they are
	slices.Sort(surfaces)
	going := last[:0] // surfaces whose last claim is listed
	for i := 0; i < len(surfaces); {
		id, times := surfaces[i], 1
		for i += 1; i < len(surfaces) && surfaces[i] == id; i++ {
			times++
		}
		m := c.mapped[id]
		if m == nil || m.count < times {
			return c.refuse(driverabi.BadArgument, fmt.Sprintf("surface %d is not mapped as often by this client", id),
				"unmap what was mapped, once for each time", nil)
		}
		if m.count == times {
			going = append(going, id)
		}
	}
	var bound []*binding
	if len(going) > 0 { // it may take long, so without the lock that other clients wait for
		bound = c.naming(going)
	}
	d.mu.Lock()
	if slices.ContainsFunc(bound, func(b *binding) bool { return b.flying > 0 }) {
		d.mu.Unlock()
		return c.refuse(driverabi.Busy, "a request in flight needs a surface", "cancel it or wait for it", nil)
	}
	c.unbind(bound)
	d.mu.Unlock()
	err := closeAll(bound) // before the ranges go, and the Blocks may
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range surfaces {
		c.unclaim(c.mapped[id])
	}
	if err != nil {
		return c.refuse(resultOf(err), "an invocation did not close cleanly", "", err)
	}
	return driverabi.Success
}

// naming are the bindings that name one of ids, which are sorted. The caller holds slow.
func (c *Client) naming(ids []uint32) []*binding {
	var out []*binding
	for _, x := range c.created {
		out = append(out, x.matching(func(b *binding) bool {
			return slices.ContainsFunc(b.surfaces, func(id uint32) bool {
				_, named := slices.BinarySearch(ids, id)
				return named
			})
		})...)
	}
	return out
}

// dropMappings undoes every claim. No request is in flight and none is accepted; the
// caller holds slow.
func (c *Client) dropMappings() {
	d := c.driver
	var bound []*binding
	for _, x := range c.created {
		bound = append(bound, x.matching(everyone)...)
	}
	d.mu.Lock()
	c.unbind(bound)
	d.mu.Unlock()
	_ = closeAll(bound) // no caller is left to be told
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range c.mapped {
		for m.count > 0 {
			c.unclaim(m)
		}
	}
}
