package hal

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
)

// binding is what a Dispatch binds: Ranges for the inputs and outputs of an Executable. It keeps the Requests on them, one
// for each batch that runs at a time. Its user has pinned the Buffers.
type binding struct {
	exec    *Executable
	in, out []Range

	mu    sync.Mutex
	free  []*ane.Request
	ended bool
}

// take returns a Request for one run.
func (k *binding) take() (*ane.Request, error) {
	k.mu.Lock()
	if n := len(k.free); n > 0 {
		r := k.free[n-1]
		k.free = k.free[:n-1]
		k.mu.Unlock()
		return r, nil
	}
	k.mu.Unlock()
	in, err := k.tensors(k.exec.in, k.in)
	if err != nil {
		return nil, err
	}
	out, err := k.tensors(k.exec.out, k.out)
	if err != nil {
		return nil, err
	}
	return k.exec.program.model.Bind(in, out)
}

// tensors makes the tensors of Ranges, and adds the binding to their Buffers.
func (k *binding) tensors(layouts []ane.Layout, ranges []Range) (map[string]*ane.Tensor, error) {
	all := make(map[string]*ane.Tensor, len(ranges))
	for i, r := range ranges {
		b := r.Buffer
		b.device.mu.Lock()
		block := b.block
		if b.bound == nil {
			b.bound = map[*binding]struct{}{}
		}
		b.bound[k] = struct{}{}
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
func (k *binding) give(r *ane.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		_ = r.Close() // the caller is gone; the engine's error has no receiver
		return
	}
	k.free = append(k.free, r)
}

// clear closes the Requests, since their memory ends.
func (k *binding) clear() error {
	k.mu.Lock()
	free := k.free
	k.free = nil
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
	d := k.exec.device
	d.mu.Lock()
	for _, b := range k.buffers() {
		delete(b.bound, k)
	}
	d.mu.Unlock()
	return k.clear()
}

// buffers returns the Buffers, once for each Range.
func (k *binding) buffers() (all []*Buffer) {
	for _, r := range slices.Concat(k.in, k.out) {
		all = append(all, r.Buffer)
	}
	return all
}

// try binds the program, if the memory is present.
func (k *binding) try() error {
	d, buffers := k.exec.device, k.buffers()
	if !d.pin(buffers) {
		return nil
	}
	r, err := k.take()
	if err == nil {
		k.give(r)
	}
	return errors.Join(err, d.unpin(buffers))
}

// evaluate runs the program once, with the Request in r, which it takes if there is none.
func (k *binding) evaluate(ctx context.Context, r **ane.Request) (err error) {
	if *r == nil {
		if *r, err = k.take(); err != nil {
			return err
		}
	}
	if _, err = (*r).Evaluate(ctx); err != nil {
		_ = (*r).Close() // an engine may still use it for a run that it has abandoned
		*r = nil
	}
	return err
}
