package hal

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
)

// binding is what a Dispatch binds: Ranges for the inputs and outputs of an Executable. It keeps the
// Requests on them, one for each batch that runs at a time.
type binding struct {
	exec    *Executable
	in, out []Range

	mu      sync.Mutex
	free    []*ane.Request
	version int // incremented by clear: give closes a Request of an earlier one
	ended   bool
}

// lent is a Request of a binding.
type lent struct {
	*ane.Request
	version int
}

// there reports whether all memory is present.
func (k *binding) there() bool {
	d := k.exec.device
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, all := range [][]Range{k.in, k.out} {
		for _, r := range all {
			if r.Buffer.state != present {
				return false
			}
		}
	}
	return true
}

// take returns a Request for one run.
func (k *binding) take() (lent, error) {
	k.mu.Lock()
	if n := len(k.free); n > 0 {
		r := k.free[n-1]
		k.free = k.free[:n-1]
		l := lent{r, k.version}
		k.mu.Unlock()
		return l, nil
	}
	version := k.version
	k.mu.Unlock()
	in, err := k.tensors(k.exec.in, k.in)
	if err != nil {
		return lent{}, err
	}
	out, err := k.tensors(k.exec.out, k.out)
	if err != nil {
		return lent{}, err
	}
	r, err := k.exec.model().Bind(in, out)
	return lent{r, version}, err
}

// tensors makes the tensors of Ranges, and adds the binding to their Buffers.
func (k *binding) tensors(layouts []ane.Layout, ranges []Range) (map[string]*ane.Tensor, error) {
	all := make(map[string]*ane.Tensor, len(ranges))
	for i, r := range ranges {
		b := r.Buffer
		b.device.mu.Lock()
		block := b.block
		if block != nil {
			if b.bound == nil {
				b.bound = map[*binding]struct{}{}
			}
			b.bound[k] = struct{}{}
		}
		b.device.mu.Unlock()
		t, err := ane.OnRange(block, r.Offset, layouts[i])
		if err != nil {
			return nil, err
		}
		all[layouts[i].Name] = t
	}
	return all, nil
}

// give returns a Request.
func (k *binding) give(l lent) {
	k.mu.Lock()
	if !k.ended && l.version == k.version {
		k.free = append(k.free, l.Request)
		k.mu.Unlock()
		return
	}
	k.mu.Unlock()
	_ = l.Close() // the memory or the caller is gone; the engine's error has no receiver
}

// clear closes the Requests, since their memory ends.
func (k *binding) clear() error {
	k.mu.Lock()
	free := k.free
	k.free = nil
	k.version++
	k.mu.Unlock()
	var errs []error
	for _, r := range free {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// close ends the binding.
func (k *binding) close() error {
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	for _, all := range [][]Range{k.in, k.out} {
		for _, r := range all {
			r.Buffer.device.mu.Lock()
			delete(r.Buffer.bound, k)
			r.Buffer.device.mu.Unlock()
		}
	}
	return k.clear()
}

// try binds the program, if the memory is present.
func (k *binding) try() error {
	if !k.there() {
		return nil
	}
	r, err := k.take()
	if err == nil {
		k.give(r)
	}
	return err
}

// evaluate runs the program once, with the Request in l, which it takes if l has none.
func (k *binding) evaluate(ctx context.Context, l *lent) (err error) {
	if l.Request == nil {
		if *l, err = k.take(); err != nil {
			return err
		}
	}
	if _, err = l.Evaluate(ctx); err != nil {
		_ = l.Close() // an engine may still use it for a run that it has abandoned
		l.Request = nil
	}
	return err
}
