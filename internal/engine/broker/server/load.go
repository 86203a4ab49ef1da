package server

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// load makes a program ready to run.
func (t *programs) load(payload []byte) (wire.Payload, error) {
	var q wire.Load
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	if err := t.mayLoad(&q); err != nil {
		return nil, err
	}
	p, err := t.find("load", q.Program)
	if err != nil {
		return nil, err
	}
	if p.loaded {
		return nil, &ane.Error{Op: "load", Engine: Name, Name: fmt.Sprintf("program %d", q.Program), Err: ane.ErrInUse,
			Detail: "loaded already", Hint: "unload it first"}
	}
	if err := t.attach(p); err != nil {
		return nil, err
	}
	p.loaded, p.qos, p.args = true, q.QoS, q.Args
	p.depth = t.depth(q.Args.QueueDepth)
	return &wire.Loaded{Program: q.Program, QueueDepth: uint32(p.depth)}, nil
}

// mayLoad refuses what needs an entitlement that the client lacks.
func (t *programs) mayLoad(q *wire.Load) error {
	if err := t.grant.AllowBaseline("load"); err != nil {
		return err
	}
	if q.QoS == driverabi.QoSRealTime {
		if err := t.grant.AllowRestricted("load", driverabi.EntitlementRealTime); err != nil {
			return err
		}
	}
	return t.grant.allowArguments("load", q.Args)
}

// depth is the queue depth that a client gets: what it asked for, but no more than its
// part when others want some too. A client that asks for none has the limit of one alone.
func (t *programs) depth(wanted uint32) int {
	if wanted == 0 {
		return driverabi.QueueDepth
	}
	return max(1, min(int(wanted), driverabi.QueueDepth/max(1, int(t.active.Load()))))
}

// attach has the driver load p, unless it is there for another handle.
func (t *programs) attach(p *program) error {
	if p.token != 0 { // an instance, or wired
		return nil
	}
	a := t.loaded[p.res]
	if a == nil {
		_, loaded := footprint(p.res)
		if err := t.owes.take("load", fmt.Sprintf("program %d", p.handle), loaded); err != nil {
			return err
		}
		token, err := t.dev.load(p.res.resource)
		if err != nil {
			t.owes.give(loaded)
			return err
		}
		a = &attachment{token: token, owed: loaded}
		t.loaded[p.res] = a
	}
	a.users++
	p.token = a.token
	return nil
}

// detach undoes attach; an instance keeps its place in the driver until it is
// released.
func (t *programs) detach(p *program) error {
	if p.inst != nil || p.token == 0 {
		return nil
	}
	a := t.loaded[p.res]
	if a.users == 1 {
		if err := t.dev.unload(a.token); err != nil {
			return err
		}
		t.flights.lanes.close(a.token)
		delete(t.loaded, p.res)
		t.owes.give(a.owed)
	}
	a.users--
	p.token = 0
	return nil
}

// unload undoes load. Requests stay bound. A program that is to be kept wired stays in
// the driver.
func (t *programs) unload(payload []byte) (wire.Payload, error) {
	var q wire.Unload
	if err := wire.Parse(payload, &q); err != nil {
		return nil, err
	}
	p, err := t.find("unload", q.Program)
	if err != nil {
		return nil, err
	}
	return &wire.Empty{}, t.stop(p)
}

// stop is unload for a program that is there.
func (t *programs) stop(p *program) error {
	flying, _ := t.flights.of(p)
	switch {
	case !p.loaded:
		return &ane.Error{Op: "unload", Engine: Name, Name: fmt.Sprintf("program %d", p.handle), Err: ane.ErrNotLoaded,
			Hint: "load it first"}
	case flying > 0:
		return &ane.Error{Op: "unload", Engine: Name, Name: fmt.Sprintf("program %d", p.handle), Err: ane.ErrBusy,
			Detail: fmt.Sprintf("evaluations in flight: %d", flying), Hint: "wait for them, or cancel them"}
	}
	if !p.args.KeepWired {
		if err := t.detach(p); err != nil {
			return err
		}
	}
	p.loaded = false
	return nil
}
