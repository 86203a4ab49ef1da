package resources

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Request is a program tied to surfaces.
type Request struct {
	handle   uint32
	Program  *Program
	IDs      []uint32    // by which the driver knows the surfaces, of inputs, then of outputs
	Busy     atomic.Bool // in flight
	surfaces []*registration
	owed     Needs
}

// Requests are those that one client has bound.
type Requests struct {
	programs *Programs
	surfaces *Registrations
	table    table[Request]
}

// Find is the request of a handle, nil for none.
func (t *Requests) Find(handle uint32) *Request { return t.table.find(handle) }

// Len is how many there are.
func (t *Requests) Len() int { return t.table.len() }

// Bind makes a request. Everything that ane.Model.Bind checks in the client is
// checked again, since a client need not be ours.
func (t *Requests) Bind(q *wire.Bind) (*wire.Bound, error) {
	p, err := t.programs.Find("bind", q.Program)
	if err != nil {
		return nil, err
	}
	ports := int64(len(q.In) + len(q.Out))
	r := &Request{Program: p, owed: Needs{Memory: requestBytes + ports*portBytes}}
	if err := t.choosePorts(r, q); err != nil {
		return nil, err
	}
	if err := t.surfaces.owes.Take("bind", "", r.owed); err != nil {
		return nil, err
	}
	if !t.table.add(r, MaxRequests, func(number uint32) { r.handle = number }) {
		t.surfaces.owes.Give(r.owed)
		return nil, Exhausted("bind", "", "requests", MaxRequests, "unbind requests")
	}
	for _, s := range r.surfaces {
		s.users++
	}
	p.bound++
	return &wire.Bound{Request: r.handle}, nil
}

// Unbind frees a request that is not in flight.
func (t *Requests) Unbind(q *wire.Unbind) (*wire.Empty, error) {
	r := t.table.find(q.Request)
	switch {
	case r == nil:
		return nil, Unknown("unbind", "request", q.Request)
	case r.Busy.Load():
		return nil, &ane.Error{Op: "unbind", Engine: Name, Name: fmt.Sprintf("request %d", q.Request), Err: ane.ErrBusy,
			Hint: "wait for its evaluation, or cancel it"}
	}
	t.table.remove(q.Request)
	t.surfaces.owes.Give(r.owed)
	r.Program.bound--
	for _, s := range r.surfaces {
		s.users--
	}
	return &wire.Empty{}, nil
}

// choosePorts finds the surfaces of a request and checks them against the program.
// All mismatches are reported at once.
func (t *Requests) choosePorts(r *Request, q *wire.Bind) error {
	p := r.Program
	if len(q.In) != len(p.In) || len(q.Out) != len(p.Out) {
		return &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrMismatch,
			Detail: fmt.Sprintf("%d inputs and %d outputs for %d and %d", len(q.In), len(q.Out), len(p.In), len(p.Out)),
			Hint:   "name one surface for each tensor of the program, in its order"}
	}
	if n := len(q.In) + len(q.Out); n > driverabi.MaxSurfaces {
		return &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrExhausted, Detail: fmt.Sprintf("%d surfaces", n),
			Rule: fmt.Sprintf("the mapper takes %d surfaces a request",
				driverabi.MaxSurfaces), Hint: "pack tensors that belong together into one"}
	}
	var faults []error
	for i, port := range q.In {
		faults = append(faults, t.port(r, "input ", p.In[i], port, false))
	}
	for i, port := range q.Out {
		faults = append(faults, t.port(r, "output ", p.Out[i], port, true))
	}
	return errors.Join(faults...)
}

// port adds a surface to a request, or tells what keeps it from standing for l.
// Outputs share their memory with nothing, whatever tokens name it.
func (t *Requests) port(r *Request, kind string, l ane.Layout, port wire.Port, output bool) error {
	fault := func(err error, detail, hint string) error {
		return &ane.Error{Op: "bind", Engine: Name, Name: kind + l.Name, Err: err, Detail: detail, Hint: hint}
	}
	s := t.surfaces.table.find(port.Surface)
	switch {
	case s == nil:
		return fault(ane.ErrForeign, fmt.Sprintf("this connection has no surface %d", port.Surface),
			"register the surface first")
	case port.Offset != 0:
		return fault(ane.ErrOffset, fmt.Sprintf("starts at byte %d of its surface", port.Offset),
			"give the tensor a surface of its own")
	case s.size < uint64(l.Bytes()):
		return fault(ane.ErrShort, fmt.Sprintf("program needs %d bytes, surface has %d", l.Bytes(), s.size),
			"make the tensor with the layout of the program")
	}
	for _, other := range r.surfaces {
		if output && other.block.Key() == s.block.Key() {
			return fault(ane.ErrAlias, "its memory is bound twice", "give every output memory of its own")
		}
	}
	r.surfaces, r.IDs = append(r.surfaces, s), append(r.IDs, s.name)
	return nil
}
