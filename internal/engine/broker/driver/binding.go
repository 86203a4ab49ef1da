package driver

import (
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
// that comes again costs no memory. The Driver's lock guards what follows invocation.
// Bindings are added and removed with the lock and with the client's slow as well.
type binding struct {
	owner        *attachment
	surfaces     []uint32
	hash         uint64
	invocation   ane.Invocation
	bytes        int64
	flying       int
	newer, older *binding // in the order of use, among all of the client
}

// bindings are those of a client in the order of their use.
type bindings struct {
	newest, oldest *binding
	n              int
	bytes          int64
}

// use makes b, which is there already or is new, the newest.
func (l *bindings) use(b *binding) {
	if l.newest == b {
		return
	}
	if b.newer != nil {
		l.drop(b)
	}
	if b.older = l.newest; b.older == nil {
		l.oldest = b
	} else {
		b.older.newer = b
	}
	l.newest = b
	l.n++
	l.bytes += b.bytes
}

// drop takes b out.
func (l *bindings) drop(b *binding) {
	if b.newer == nil {
		l.newest = b.older
	} else {
		b.newer.older = b.older
	}
	if b.older == nil {
		l.oldest = b.newer
	} else {
		b.older.newer = b.newer
	}
	b.newer, b.older = nil, nil
	l.n--
	l.bytes -= b.bytes
}

// idle is the one without requests that was used longest ago.
func (l *bindings) idle() *binding {
	b := l.oldest
	for b != nil && b.flying > 0 {
		b = b.newer
	}
	return b
}

// find returns the binding of surfaces, nil where there is none. The caller holds the
// lock.
func (x *attachment) find(surfaces []uint32) *binding {
	for _, b := range x.bound[hash(surfaces)] {
		if slices.Equal(b.surfaces, surfaces) {
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

// matching are the bindings of x that match. The caller holds slow and may do without the
// lock.
func (x *attachment) matching(match func(*binding) bool) []*binding {
	var out []*binding
	for _, same := range x.bound {
		for _, b := range same {
			if match(b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// unbind takes list out. None of it has requests in flight. The caller holds slow and the
// lock, and closes the bindings without the lock.
func (c *Client) unbind(list []*binding) {
	for _, b := range list {
		bound := b.owner.bound
		same := bound[b.hash]
		if len(same) == 1 {
			delete(bound, b.hash)
		} else {
			i := slices.Index(same, b)
			bound[b.hash] = slices.Delete(same, i, i+1)
		}
		c.bound.drop(b)
	}
	c.driver.bound -= len(list)
}

// everyone matches all bindings.
func everyone(*binding) bool { return true }

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
	fit := own != nil && own.state == isPrepared && c.quiet.Load() == 0
	done := fit && own.find(surfaces) != nil
	d.mu.Unlock()
	if !fit || done {
		return driverabi.Success, nil // admit tells why, or finds it
	}
	p := own.program
	tensors, err := c.tensors(p, surfaces)
	if err != nil {
		return resultOf(err), err
	}
	inputs := len(p.in)
	p.gate.Lock()
	invocation, err := p.exec.Prepare(tensors[:inputs:inputs], tensors[inputs:])
	p.gate.Unlock()
	if err != nil {
		return resultOf(err), err
	}
	b := &binding{owner: own, surfaces: slices.Clone(surfaces), hash: hash(surfaces), invocation: invocation}
	if x, ok := p.exec.(Measured); ok {
		_, _, b.bytes = x.Footprint()
	}
	var old []*binding
	d.mu.Lock()
	own.bound[b.hash] = append(own.bound[b.hash], b)
	c.bound.use(b)
	d.bound++
	for c.bound.n > maxBound || d.opts.BoundBytes > 0 && c.bound.bytes > d.opts.BoundBytes {
		idle := c.bound.idle()
		if idle == nil || idle == b {
			break
		}
		old = append(old, idle)
		c.unbind([]*binding{idle})
	}
	d.mu.Unlock()
	if err := closeAll(old); err != nil {
		return resultOf(err), err
	}
	return driverabi.Success, nil
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
		m := c.mapped[surfaces[i]]
		if m == nil {
			return nil, fault("bind", ane.ErrStale,
				fmt.Sprintf("surface %d, of %s, is not mapped", surfaces[i], l.Name),
				"map it with direct selector 5")
		}
		if i >= len(p.in) && slices.Contains(surfaces[:i], surfaces[i]) {
			return nil, fault("bind", ane.ErrMismatch, "the surface of output "+l.Name+" is bound twice",
				"give every output a surface of its own")
		}
		var err error
		if list[i], err = ane.OnBlock(m.surface.block, l); err != nil {
			return nil, err
		}
	}
	return list, nil
}
