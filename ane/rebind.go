package ane

import (
	"errors"
	"slices"

	"github.com/anekit/anekit/unimem"
)

// Rebind replaces the tensor of the input or output called name; all others stay. The Request holds the Block of t from
// here, and no longer that of the tensor before. A surface that NewRequest made for that one is freed. After an error
// the Request is as it was, unless closing the engine's run of before failed: then the new tensor is bound.
//
// Errors: ErrName (the program has no such name, or both an input and an output of it), ErrBusy (the request is in
// flight), ErrInUse (it belongs to a Pool), and those of Model.Bind.
func (r *Request) Rebind(name string, t *Tensor) error {
	r = orZero(r)
	m := orZero(r.model)
	if r.pool != nil {
		return m.fail("rebind", ErrInUse, "the request belongs to a Pool", "copy into its tensors, or make a request")
	}
	if !m.gate.Enter() {
		return m.notReady("rebind")
	}
	defer m.gate.Leave()
	if err := r.claim("rebind", flying); err != nil {
		return err
	}
	defer r.state.Store(idle)
	layouts := slices.Concat(m.in, m.out)
	i, missing := m.find("rebind", name, layouts)
	if missing != nil {
		return missing
	}
	side := "output"
	if i < len(m.in) {
		side = "input"
		if slices.ContainsFunc(m.out, func(l Layout) bool { return l.Name == name }) {
			return m.fail("rebind", ErrName, "an input and an output are called "+name, "bind a new request")
		}
	}
	var faults []error
	next := &Request{model: m, all: slices.Clone(r.all)}
	next.all[i] = m.match(side, layouts[i:i+1], map[string]*Tensor{name: t}, &faults)[0]
	if err := next.prepare(faults); err != nil {
		return err
	}
	before := r.all[i].block
	r.all, next.all = next.all, nil
	r.run, next.run = next.run, r.run
	r.held, next.held = next.held, r.held
	r.files = next.files
	err := next.dismiss()
	if slices.Contains(r.own, before) && !slices.Contains(r.held, before) {
		r.own = slices.DeleteFunc(r.own, func(b *unimem.Block) bool { return b == before })
		err = errors.Join(err, m.device.free([]*unimem.Block{before}))
	}
	return err
}
