package ane

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/unimem"
)

// Request binds tensors to the inputs and outputs of a Model, by name: new surfaces of
// Model.NewRequest, or tensors of the caller by Model.Bind. It holds their Blocks until
// Close. One goroutine at a time may use a Request; a Pool lends requests to many.
type Request struct {
	model *Model
	run   Invocation
	all   []*Tensor       // in the order of Model.Inputs, then Model.Outputs
	held  []*unimem.Block // of all, retained
	files []*unimem.Block // of mapped files, which other processes can make shorter
	state atomic.Int32

	own  []*unimem.Block // made by NewRequest, freed by Close
	pool *Pool           // owner of the request, or nil
	qos  QoS             // 0 if not set
}

// States of a Request.
const (
	idle   int32 = iota
	flying       // a call uses it
	pooled       // its Pool has it
	shut
)

// Bind makes a Request of tensors of the caller; NewRequest makes one of new tensors. The
// Model has to be loaded. in and out map the program's names to tensors: one for every
// input and output, with the program's layout. Bind reports all mismatches at once.
//
// Errors: ErrUnbound (no tensor for a name), ErrName (a name that the program does not have), ErrMismatch, ErrShort,
// ErrOffset and ErrAligned (the tensor's layout or place), ErrReadOnly and ErrAlias (an output), ErrStale, ErrNotLoaded
// and ErrClosed (the Model), and those of the engine.
func (m *Model) Bind(in, out map[string]*Tensor) (*Request, error) {
	m = orZero(m)
	if !m.gate.Enter() {
		return nil, m.notReady("bind")
	}
	defer m.gate.Leave()
	var faults []error
	r := &Request{model: m, all: slices.Concat(m.match("input", m.in, in, &faults),
		m.match("output", m.out, out, &faults))}
	if err := r.prepare(faults); err != nil {
		return nil, err
	}
	return r, nil
}

// prepare retains the Blocks of r.all and has the engine prepare the run, unless there are faults or finds some. The
// caller is inside the gate of the model.
func (r *Request) prepare(faults []error) error {
	m, n := r.model, len(r.model.in)
	for i, t := range r.all[n:] {
		if t != nil && t.block.ReadOnly() {
			faults = append(faults, &Error{Op: "bind", Engine: m.device.info.Name, Name: m.port(n + i),
				Err: ErrReadOnly, Hint: "bind outputs to memory of their own"})
		}
	}
	m.aliases(r, &faults)
	if err := errors.Join(faults...); err != nil {
		return err
	}
	for i, t := range r.all {
		if err := t.block.Retain(); err != nil {
			r.release()
			return &Error{Op: "bind", Engine: m.device.info.Name, Name: m.port(i), Err: err}
		}
		r.held = append(r.held, t.block)
		if t.block.Backing() == "file" && !slices.Contains(r.files, t.block) {
			r.files = append(r.files, t.block)
		}
	}
	if own, ok := m.exec.(interface{ Mapped() []*unimem.Block }); ok {
		r.files = append(r.files, own.Mapped()...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	run, err := m.exec.Prepare(r.all[:n:n], r.all[n:])
	if err != nil {
		r.release()
		return err
	}
	r.run = run
	m.requests++
	return nil
}

// match finds the tensor of each layout, or nil if none fits. It reports missing tensors,
// unknown names and wrong layouts.
func (m *Model) match(what string, want []Layout, given map[string]*Tensor, faults *[]error) []*Tensor {
	note := func(name string, fault Error) {
		fault.Op, fault.Engine, fault.Name = "bind", m.device.info.Name, what+" "+name
		*faults = append(*faults, &fault)
	}
	found := make([]*Tensor, len(want))
	for i, l := range want {
		t := given[l.Name]
		if t == nil {
			note(l.Name, Error{Err: ErrUnbound, Hint: "bind a tensor of layout " + l.String()})
			continue
		}
		before := len(*faults)
		for _, fault := range t.unfit(l, m.device.info.Offsets) {
			note(l.Name, fault)
		}
		if len(*faults) == before {
			found[i] = t
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(want, func(l Layout) bool { return l.Name == name }) {
			note(name, Error{Err: ErrName, Hint: "the program has " + names(want)})
		}
	}
	return found
}

// unfit returns the reasons why t cannot be bound to l.
func (t *Tensor) unfit(l Layout, offsets bool) []Error {
	if t.fault != nil {
		return []Error{*t.fault}
	}
	if t.Bytes() == nil {
		return []Error{{Err: ErrStale, Hint: "bind before the memory is closed or returned"}}
	}
	var faults []Error
	const hint = "make the tensor with the layout of the Model"
	switch have := t.layout; {
	case have.Equal(l) && t.size >= l.Bytes():
	case t.size < l.Bytes():
		faults = append(faults, Error{Err: ErrShort, Hint: hint,
			Detail: fmt.Sprintf("program needs %d bytes (%s), tensor has %d (%s)", l.Bytes(), l, t.size, have)})
	default:
		faults = append(faults, Error{Err: ErrMismatch, Hint: hint,
			Detail: fmt.Sprintf("program has %s, tensor %s", l, have)})
	}
	if t.offset != 0 && !offsets {
		faults = append(faults, Error{Err: ErrOffset,
			Detail: fmt.Sprintf("starts at byte %d of its surface", t.offset),
			Rule:   "the engine reads every surface from byte 0",
			Hint:   "take the cell from a Grid made with unimem.SurfacePerCell(), or make the tensor on its own Block"})
	} else if t.offset%RowAlign != 0 {
		faults = append(faults, Error{Err: ErrAligned,
			Detail: fmt.Sprintf("starts at byte %d of its surface", t.offset),
			Hint:   fmt.Sprintf("engines take tensors at multiples of %d bytes", RowAlign)})
	}
	return faults
}

// aliases reports outputs that share bytes with an input or another output.
func (m *Model) aliases(r *Request, faults *[]error) {
	for i := len(m.in); i < len(r.all); i++ {
		for j, u := range r.all[:i] {
			if t := r.all[i]; t != nil && u != nil && t.overlaps(u) {
				*faults = append(*faults, &Error{Op: "bind", Engine: m.device.info.Name, Name: m.port(i), Err: ErrAlias,
					Detail: "with " + m.port(j), Hint: "use separate memory for every output"})
			}
		}
	}
}

// port returns the program's name of tensor i of a request.
func (m *Model) port(i int) string {
	if i < len(m.in) {
		return "input " + m.in[i].Name
	}
	return "output " + m.out[i-len(m.in)].Name
}

// claim changes the state of a Request that no call uses.
func (r *Request) claim(op string, to int32) error {
	if r.model == nil {
		return orZero(r.model).fail(op, ErrClosed, "", "make a new request")
	}
	if r.state.CompareAndSwap(idle, to) {
		return nil
	}
	switch r.state.Load() {
	case shut:
		return r.model.fail(op, ErrClosed, "", "make a new request")
	case pooled:
		return r.model.fail(op, ErrForeign, "the request is in its Pool", "take one with Get")
	}
	return r.model.fail(op, ErrBusy, "", "wait for the run to end, or make a request for each goroutine")
}

// start enters the gate of the model, marks the request as in flight, and checks that its memory is valid. If it
// succeeds, the caller must call end.
func (r *Request) start() error {
	m := orZero(r.model)
	if !m.gate.Enter() {
		return m.notReady("evaluate")
	}
	if err := r.claim("evaluate", flying); err != nil {
		m.gate.Leave()
		return err
	}
	for i, t := range r.all {
		if t.Bytes() == nil {
			r.end()
			return &Error{Op: "evaluate", Engine: m.device.info.Name, Name: m.port(i), Err: ErrStale,
				Hint: "close the request before closing its memory, returning its cells or clearing its tapes"}
		}
	}
	return nil
}

func (r *Request) end() {
	r.state.Store(idle)
	r.model.gate.Leave()
}

// Inspect calls f with the Model and with run, which the engine has prepared. f can see how the engine works, for
// example by an interface of its own that run implements. f neither evaluates nor closes run, and does not keep it. The
// error is ErrBusy while the request is in flight, ErrForeign while it is in its Pool, ErrClosed after Close. A nil f
// is not called.
func (r *Request) Inspect(f func(m *Model, run Invocation)) error {
	r = orZero(r)
	if err := r.claim("inspect", flying); err != nil {
		return err
	}
	defer r.state.Store(idle)
	if f != nil {
		f(r.model, r.run)
	}
	return nil
}

// Close releases the tensors and frees the surfaces of NewRequest; ErrBusy while the
// request is in flight, ErrInUse for a request of a Pool. Repeated calls do nothing. A
// surface that an abandoned run or another Request still uses is freed by a later Close
// of a Request or of the Device.
func (r *Request) Close() error {
	r = orZero(r)
	if r.pool != nil {
		return r.model.fail("close", ErrInUse, "the request belongs to a Pool", "return it by Put, and close the Pool")
	}
	return r.close()
}

func (r *Request) close() error {
	if err := r.claim("close", shut); err != nil {
		if errors.Is(err, ErrClosed) {
			return nil
		}
		return err
	}
	err := r.dismiss()
	if r.own != nil {
		err = errors.Join(err, r.model.device.free(r.own))
		r.own = nil
	}
	return err
}

// dismiss closes the run and releases its Blocks.
func (r *Request) dismiss() error {
	err := r.run.Close()
	r.release()
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	r.model.requests--
	return err
}

// release releases the retained Blocks.
func (r *Request) release() {
	for _, b := range r.held {
		b.Release()
	}
	r.held = nil
}
