package driver

import (
	"errors"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
)

// maxBound is how many sets of surfaces one attachment keeps prepared. One more evicts
// the one that was used longest ago, which is prepared anew when it comes again.
const maxBound = 1024

// binding is a prepared Invocation: a program with surfaces, kept so that a request
// that comes again costs no memory. The Driver's lock guards flying and used.
type binding struct {
	owner      *attachment
	surfaces   []uint32
	invocation ane.Invocation
	flying     int
	used       uint64
}

// find returns the binding of surfaces, nil where there is none. The caller holds the
// lock.
func (x *attachment) find(surfaces []uint32) *binding {
	if x.last != nil && slices.Equal(x.last.surfaces, surfaces) {
		return x.last
	}
	for _, b := range x.bound[hash(surfaces)] {
		if slices.Equal(b.surfaces, surfaces) {
			x.last = b
			return b
		}
	}
	return nil
}

// hash is FNV-1a over 32-bit words.
func hash(surfaces []uint32) uint64 {
	h := uint64(14695981039346656037)
	for _, id := range surfaces {
		h = (h ^ uint64(id)) * 1099511628211
	}
	return h
}

// unbind takes out the bindings that match, none of which has requests in flight. The
// caller holds the lock, adjusts Driver.bound, and closes them without it.
func (x *attachment) unbind(match func(*binding) bool) []*binding {
	var out []*binding
	for h, list := range x.bound {
		kept := list[:0]
		for _, b := range list {
			if match(b) {
				out = append(out, b)
			} else {
				kept = append(kept, b)
			}
		}
		clear(list[len(kept):])
		if x.bound[h] = kept; len(kept) == 0 {
			delete(x.bound, h)
		}
	}
	x.last = nil
	x.count -= len(out)
	return out
}

// unbind does the same for all programs of a client.
func (c *Client) unbind(match func(*binding) bool) []*binding {
	var out []*binding
	for _, x := range c.created {
		out = append(out, x.unbind(match)...)
	}
	c.driver.bound -= len(out)
	return out
}

// anyFlying reports whether a binding that matches has requests in flight.
func (c *Client) anyFlying(match func(*binding) bool) bool {
	for _, x := range c.created {
		for _, list := range x.bound {
			if slices.ContainsFunc(list, func(b *binding) bool { return b.flying > 0 && match(b) }) {
				return true
			}
		}
	}
	return false
}

func closeAll(list []*binding) error {
	var errs []error
	for _, b := range list {
		p := b.owner.program
		p.gate.Lock()
		errs = append(errs, b.invocation.Close())
		p.gate.Unlock()
	}
	return errors.Join(errs...)
}

// bind prepares the program that token names with surfaces, in the order of its inputs
// and then its outputs, each at byte 0 of a surface of its own; inputs may share one.
func (c *Client) bind(token uint64, surfaces []uint32) (driverabi.Return, error) {
	d := c.driver
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	own := c.tokens[token]
	if own == nil || own.state != isPrepared || c.closing || c.barred > 0 {
		d.mu.Unlock()
		return driverabi.NotReady, fault("bind", ane.ErrNotLoaded, "the program is not prepared", "prepare it with control selector 4")
	}
	if own.find(surfaces) != nil {
		d.mu.Unlock()
		return driverabi.Success, nil
	}
	tensors, err := c.tensors(own.program.exec, surfaces)
	var old []*binding
	if err == nil && own.count >= maxBound {
		if old = own.evict(); old == nil {
			err = driverabi.NoResources
		}
		d.bound -= len(old)
	}
	d.mu.Unlock()
	if err == nil {
		err = closeAll(old)
	}
	if err != nil {
		return resultOf(err), err
	}
	inputs := len(own.program.exec.Inputs())
	own.program.gate.Lock()
	invocation, err := own.program.exec.Prepare(tensors[:inputs:inputs], tensors[inputs:])
	own.program.gate.Unlock()
	if err != nil {
		return resultOf(err), err
	}
	b := &binding{owner: own, surfaces: slices.Clone(surfaces), invocation: invocation}
	h := hash(surfaces)
	d.mu.Lock()
	defer d.mu.Unlock()
	own.bound[h] = append(own.bound[h], b)
	own.count++
	own.turn++
	b.used = own.turn
	d.bound++
	return driverabi.Success, nil
}

// evict takes out the idle binding that was used longest ago, nil when none is idle.
func (x *attachment) evict() []*binding {
	var oldest *binding
	for _, list := range x.bound {
		for _, b := range list {
			if b.flying == 0 && (oldest == nil || b.used < oldest.used) {
				oldest = b
			}
		}
	}
	if oldest == nil {
		return nil
	}
	return x.unbind(func(b *binding) bool { return b == oldest })
}

// tensors lays a program's tensors on mapped surfaces. The caller holds the lock.
func (c *Client) tensors(x ane.Executable, surfaces []uint32) ([]*ane.Tensor, error) {
	in := len(x.Inputs())
	layouts := slices.Concat(x.Inputs(), x.Outputs())
	if len(surfaces) != len(layouts) {
		return nil, fault("bind", ane.ErrMismatch, counted(len(surfaces), "surfaces")+" for "+counted(len(layouts), "tensors"), "name one surface for each input, then for each output")
	}
	list := make([]*ane.Tensor, len(layouts))
	for i, l := range layouts {
		m := c.mapped[surfaces[i]]
		if m == nil {
			return nil, fault("bind", ane.ErrStale, "the surface of "+l.Name+" is not mapped", "map it with direct selector 5")
		}
		if i >= in && slices.Contains(surfaces[:i], surfaces[i]) {
			return nil, fault("bind", ane.ErrMismatch, "the surface of output "+l.Name+" is bound twice", "give every output a surface of its own")
		}
		var err error
		if list[i], err = ane.OnBlock(m.surface.block, l); err != nil {
			return nil, err
		}
	}
	return list, nil
}
