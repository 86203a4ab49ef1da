package driver

import (
	"container/list"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// maxBound is how many sets of surfaces one client keeps prepared, with all its programs
// together. One more evicts the one that was used longest ago, which is prepared again
// when it comes again. It is far above driverabi.QueueDepth, so one is always idle.
const maxBound = 4096

// binding is a prepared Invocation: a program with surfaces, kept so that a request
// that comes again costs no memory. The Driver's lock guards flying and use.
type binding struct {
	owner      *attachment
	surfaces   string // identifiers as requests have them
	invocation ane.Invocation
	bytes      int64
	flying     int
	use        *list.Element // of the client's bound
}

// names reports whether b has a surface, whose identifier is in the bytes of key.
func (b *binding) names(key string) bool {
	for i := 0; i < len(b.surfaces); i += len(key) {
		if b.surfaces[i:][:len(key)] == key {
			return true
		}
	}
	return false
}

// newest is the binding that was used last, nil where none is. The caller holds the lock.
func (c *Client) newest() *binding {
	if first := c.bound.Front(); first != nil {
		return first.Value.(*binding)
	}
	return nil
}

// remove takes out b, which has no requests in flight. The caller holds slow and the lock,
// and closes b without the lock.
func (c *Client) remove(b *binding) {
	delete(b.owner.bound, b.surfaces)
	c.bound.Remove(b.use)
	c.size -= b.bytes
	c.driver.counts.Bound--
}

// unbind takes out the bindings that match, for the caller to close, or none and is Busy while one has requests in
// flight. The caller holds slow, which keeps bindings as they are. So unbind searches them without the lock, which
// other clients wait for.
func (c *Client) unbind(match func(*binding) bool) ([]*binding, error) {
	var out []*binding
	for _, x := range c.tokens {
		for _, b := range x.bound {
			if match(b) {
				out = append(out, b)
			}
		}
	}
	d := c.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.ContainsFunc(out, func(b *binding) bool { return b.flying > 0 }) {
		return nil, refuse(driverabi.Busy, "a request in flight needs a surface", "cancel it or wait for it")
	}
	for _, b := range out {
		c.remove(b)
	}
	return out, nil
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

// bind prepares the program of an order with its surfaces: the program's inputs, then its outputs. Each tensor is at
// byte 0 of a surface of its own, but inputs may share one. It binds nothing where admit has another answer now.
func (c *Client) bind(o *order) error {
	c.slow.Lock()
	defer c.slow.Unlock()
	own := c.tokens[o.token]
	if own == nil || own.state != isPrepared || own.bound[string(o.surfaces)] != nil {
		return nil
	}
	p := own.program
	tensors, err := c.tensors(p, driverabi.Identifiers(o.surfaces))
	if err != nil {
		return err
	}
	b := &binding{owner: own, surfaces: string(o.surfaces)}
	inputs := len(p.in)
	p.gate.Lock()
	b.invocation, err = p.exec.Prepare(tensors[:inputs:inputs], tensors[inputs:])
	p.gate.Unlock()
	if err != nil {
		return err
	}
	if x, ok := p.exec.(Measured); ok {
		_, _, b.bytes = x.Footprint()
	}
	return closeAll(c.enter(b))
}

// enter puts b in, and takes out bindings beyond the bounds for the caller to close. The
// caller holds slow.
func (c *Client) enter(b *binding) (evicted []*binding) {
	d := c.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	b.owner.bound[b.surfaces] = b
	b.use = c.bound.PushFront(b)
	c.size += b.bytes
	d.counts.Bound++
	for at := c.bound.Back(); at != b.use; {
		if c.bound.Len() <= maxBound && (d.boundBytes == 0 || c.size <= d.boundBytes) {
			break
		}
		old := at.Value.(*binding)
		if at = at.Prev(); old.flying == 0 {
			c.remove(old)
			evicted = append(evicted, old)
		}
	}
	return evicted
}

// tensors lays a program's tensors on mapped surfaces. The caller holds slow.
func (c *Client) tensors(p *program, surfaces []uint32) ([]*ane.Tensor, error) {
	layouts := slices.Concat(p.in, p.out)
	if len(surfaces) != len(layouts) {
		return nil, fault("bind", ane.ErrMismatch, counted(len(surfaces), "surfaces")+" for "+
			counted(len(layouts), "tensors"), "name one surface for each input, then for each output")
	}
	list := make([]*ane.Tensor, len(layouts))
	for i, l := range layouts {
		s := c.mapped[surfaces[i]]
		if s == nil {
			return nil, fault("bind", ane.ErrStale,
				fmt.Sprintf("surface %d, of %s, is not mapped", surfaces[i], l.Name),
				"map it with direct selector 5")
		}
		if i >= len(p.in) && slices.Contains(surfaces[:i], surfaces[i]) {
			return nil, fault("bind", ane.ErrMismatch, "the surface of output "+l.Name+" is bound twice",
				"give every output a surface of its own")
		}
		var err error
		if list[i], err = ane.OnBlock(s.block, l); err != nil {
			return nil, err
		}
	}
	return list, nil
}
