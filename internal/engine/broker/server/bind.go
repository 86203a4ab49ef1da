package server

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// request is a program tied to surfaces. The flights' lock guards busy.
type request struct {
	handle   uint32
	program  *program
	surfaces []*surface // of inputs, then of outputs
	ids      []uint32   // by which the driver knows them
	busy     bool
	owed     needs
}

// requests are those that one client has bound. The session's turn guards what is not
// the flights'.
type requests struct {
	programs *programs
	surfaces *surfaces
	flights  *flights
	owes     *accounts
	table    table[request]
}

// bind makes a request. Everything that ane.Model.Bind checks in the client is
// checked again, since a client need not be ours.
func (t *requests) bind(payload []byte) (wire.Payload, error) {
	var q wire.Bind
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	p, err := t.programs.find("bind", q.Program)
	if err != nil {
		return nil, err
	}
	ports := int64(len(q.In) + len(q.Out))
	r := &request{program: p, owed: needs{memory: requestBytes + ports*portBytes}}
	if err := t.choosePorts(r, &q); err != nil {
		return nil, err
	}
	if err := t.owes.take("bind", "", r.owed); err != nil {
		return nil, err
	}
	if !t.table.add(r, MaxRequests, func(number uint32) { r.handle = number }) {
		t.owes.give(r.owed)
		return nil, exhausted("bind", "", "requests", MaxRequests, "unbind requests")
	}
	for _, s := range r.surfaces {
		s.users++
	}
	p.bound++
	return &wire.Bound{Request: r.handle, PID: pid()}, nil
}

// unbind frees a request that is not in flight.
func (t *requests) unbind(payload []byte) (wire.Payload, error) {
	var q wire.Unbind
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	r := t.table.find(q.Request)
	switch {
	case r == nil:
		return nil, unknown("unbind", "request", q.Request)
	case t.flights.busy(r):
		return nil, &ane.Error{Op: "unbind", Engine: Name, Name: fmt.Sprintf("request %d", q.Request), Err: ane.ErrBusy,
			Hint: "wait for its evaluation, or cancel it"}
	}
	t.table.remove(q.Request)
	t.owes.give(r.owed)
	r.program.bound--
	for _, s := range r.surfaces {
		s.users--
	}
	return &wire.Empty{}, nil
}

// choosePorts finds the surfaces of a request and checks them against the program.
// All mismatches are reported at once.
func (t *requests) choosePorts(r *request, q *wire.Bind) error {
	p := r.program
	if len(q.In) != len(p.in) || len(q.Out) != len(p.out) {
		return &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrMismatch,
			Detail: fmt.Sprintf("%d inputs and %d outputs for %d and %d", len(q.In), len(q.Out), len(p.in), len(p.out)),
			Hint:   "name one surface for each tensor of the program, in its order"}
	}
	if n := len(q.In) + len(q.Out); n > driverabi.MaxSurfaces {
		return &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrExhausted, Detail: fmt.Sprintf("%d surfaces", n),
			Rule: fmt.Sprintf("the mapper takes %d surfaces a request",
				driverabi.MaxSurfaces), Hint: "pack tensors that belong together into one"}
	}
	var faults []error
	for i, port := range q.In {
		faults = append(faults, t.port(r, "input ", p.in[i], port, false))
	}
	for i, port := range q.Out {
		faults = append(faults, t.port(r, "output ", p.out[i], port, true))
	}
	return errors.Join(faults...)
}

// port adds a surface to a request, or tells what keeps it from standing for l.
// Outputs share their memory with nothing, whatever tokens name it.
func (t *requests) port(r *request, kind string, l ane.Layout, port wire.Port, output bool) error {
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
	r.surfaces, r.ids = append(r.surfaces, s), append(r.ids, s.name)
	return nil
}
