package server

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// program is one entry of a client's table: a program that it compiled, or an
// instance with weights of its own. The session's turn guards what is not the flights'.
type program struct {
	handle uint32
	in     []ane.Layout
	out    []ane.Layout
	res    *resident // of an instance, its base
	inst   *adapter  // nil for what is no instance
	loaded bool      // by the client
	token  uint64    // while the driver has it prepared for this handle; 0 otherwise
	args   wire.Arguments
	qos    uint32
	depth  int // requests in flight that it may have
	owed   needs
	shares []share

	bound  int          // requests
	flying int          // evaluations in flight; the flights' lock guards it, as done
	done   uint64       // evaluations that have ended
	brief  atomic.Int64 // nanoseconds that the last runs took, smoothed
}

// newProgram makes an entry with layouts of its own: writing a payload takes them to
// be its own.
func newProgram(r *resident) *program {
	p := &program{res: r, in: slices.Clone(r.exec.Inputs()), out: slices.Clone(r.exec.Outputs())}
	for _, list := range [][]ane.Layout{p.in, p.out} {
		for i := range list {
			list[i].Shape = slices.Clone(list[i].Shape)
		}
	}
	return p
}

// charge charges what the program holds until forget.
func (p *program) charge(owes *accounts, op, name string) error {
	own, all := p.needs(), p.res.shares()
	if err := owes.hold(op, name, own, all); err != nil {
		return err
	}
	p.owed, p.shares = own, all
	return nil
}

// needs are those of the entry alone.
func (p *program) needs() needs {
	return needs{memory: programBytes + int64(len(p.in)+len(p.out))*layoutBytes}
}

// programs are those that one client has compiled, and what the driver has loaded for it.
type programs struct {
	*server
	owes    *accounts
	grant   *grant
	dev     *device
	flights *flights
	table   table[program]
	loaded  map[*resident]*attachment // the session's turn guards it
}

// attachment is what a session has loaded of a resident program, once for all its
// handles, since the driver knows a client's program by its resource.
type attachment struct {
	token uint64
	owed  needs
	users int // handles that are loaded, or wired
}

// find finds a program by its handle.
func (t *programs) find(op string, handle uint32) (*program, error) {
	if p := t.table.find(handle); p != nil {
		return p, nil
	}
	return nil, unknown(op, "program", handle)
}

// release frees a program that no request uses.
func (t *programs) release(payload []byte) (wire.Payload, error) {
	var q wire.Release
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	p, err := t.find("release", q.Program)
	if err != nil {
		return nil, err
	}
	if p.bound > 0 {
		return nil, &ane.Error{Op: "release", Engine: Name, Name: fmt.Sprintf("program %d", q.Program),
			Err:    ane.ErrInUse,
			Detail: fmt.Sprintf("requests: %d", p.bound), Hint: "unbind them first"}
	}
	if p.loaded {
		if err := t.stop(p); err != nil {
			return nil, err
		}
	}
	if err := t.detach(p); err != nil { // it was wired
		return nil, err
	}
	if p.inst != nil {
		if err := t.dev.unload(p.token); err != nil {
			return nil, err
		}
		t.flights.lanes.close(p.token)
	}
	t.table.remove(q.Program)
	return &wire.Empty{}, t.forget(p)
}

// forget gives back the memory of an entry that the driver has forgotten.
func (t *programs) forget(p *program) error {
	var err error
	t.owes.release(p.owed, p.shares)
	if p.inst != nil {
		err = p.inst.close(t.driver)
	}
	return errors.Join(err, t.live.release(p.res))
}

// free forgets everything. The driver has ended its client.
func (t *programs) free() error {
	var errs []error
	for _, p := range t.table.all() {
		errs = append(errs, t.forget(p))
	}
	return errors.Join(errs...)
}

// add gives a program its handle, in r, which describes it. It does not enter what it
// cannot tell the client about.
func (t *programs) add(p *program, r *wire.Compiled) error {
	r.In, r.Out = p.in, p.out
	if err := wire.Check(r); err != nil {
		return err
	}
	if !t.table.add(p, MaxPrograms, func(number uint32) { p.handle, r.Program = number, number }) {
		return exhausted("compile", "", "programs", MaxPrograms, "release programs")
	}
	return nil
}

// status tells about a program.
func (t *programs) status(payload []byte) (wire.Payload, error) {
	var q wire.Status
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	p, err := t.find("status", q.Program)
	if err != nil {
		return nil, err
	}
	flying, done := t.flights.of(p)
	r := wire.StatusReply{Program: q.Program, Loaded: p.loaded, Resident: p.token != 0, Done: done, Args: p.args}
	r.Args.QueueDepth = uint32(p.depth)
	// The driver runs one request at a time and does not tell whose it is. What is in
	// flight and does not wait in its queue is running.
	s, err := t.dev.status()
	if err != nil {
		return nil, err
	}
	r.Running = min(uint32(flying), uint32(flying)-min(uint32(flying), s.Queued), s.Running)
	r.Queued = uint32(flying) - r.Running
	return &r, nil
}
