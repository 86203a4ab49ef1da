package server

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// loadProgram makes a program ready to run.
func (c *session) loadProgram(f *wire.Frame) error {
	var q wire.Load
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	if err := c.allow("load", driverabi.EntitlementBaseline); err != nil {
		return err
	}
	if q.QoS == driverabi.QoSRealTime {
		if err := c.allowRestricted("load", driverabi.EntitlementRealTime); err != nil {
			return err
		}
	}
	if err := c.allowArguments("load", q.Args); err != nil {
		return err
	}
	p, err := c.programOf("load", q.Program)
	if err != nil {
		return err
	}
	if p.loaded {
		return &ane.Error{Op: "load", Engine: Name, Name: fmt.Sprintf("program %d", q.Program), Err: ane.ErrInUse, Detail: "loaded already", Hint: "unload it first"}
	}
	if err := c.attach(p); err != nil {
		return err
	}
	c.mu.Lock()
	p.loaded, p.qos, p.args = true, q.QoS, q.Args
	p.depth = c.depth(q.Args.QueueDepth)
	granted := uint32(p.depth)
	c.mu.Unlock()
	return c.reply(f, &wire.Loaded{Program: q.Program, QueueDepth: granted})
}

// depth is the queue depth that a client gets: what it asked for, but no more than
// its part when others want some too. Who does not ask has the limit of a client alone.
func (c *session) depth(wanted uint32) int {
	if wanted == 0 {
		return driverabi.QueueDepth
	}
	return max(1, min(int(wanted), driverabi.QueueDepth/max(1, int(c.active.Load()))))
}

// attach has the driver load p, unless it is there for another handle.
func (c *session) attach(p *program) error {
	if p.token != 0 { // an instance, or wired
		return nil
	}
	a := c.loaded[p.res]
	if a == nil {
		token, err := c.dev.load(p.res.resource)
		if err != nil {
			return err
		}
		a = &attachment{token: token}
		c.loaded[p.res] = a
	}
	a.users++
	c.mu.Lock()
	p.token = a.token
	c.mu.Unlock()
	return nil
}

// detach undoes attach; an instance keeps its place in the driver until it is
// released.
func (c *session) detach(p *program) error {
	if p.inst != nil || p.token == 0 {
		return nil
	}
	a := c.loaded[p.res]
	if a.users == 1 {
		if err := c.dev.unload(a.token); err != nil {
			return err
		}
		delete(c.loaded, p.res)
	}
	a.users--
	c.mu.Lock()
	p.token = 0
	c.mu.Unlock()
	return nil
}

// unloadProgram undoes loadProgram. Requests stay bound. A program that is to be kept
// wired stays in the driver.
func (c *session) unloadProgram(f *wire.Frame) error {
	var q wire.Unload
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	p, err := c.programOf("unload", q.Program)
	if err == nil {
		err = c.unload(p)
	}
	if err != nil {
		return err
	}
	return c.reply(f, &wire.Empty{})
}

func (c *session) unload(p *program) error {
	c.mu.Lock()
	flying, loaded, wired := p.flying, p.loaded, p.args.KeepWired
	c.mu.Unlock()
	switch {
	case !loaded:
		return &ane.Error{Op: "unload", Engine: Name, Name: fmt.Sprintf("program %d", p.handle), Err: ane.ErrNotLoaded, Hint: "load it first"}
	case flying > 0:
		return &ane.Error{Op: "unload", Engine: Name, Name: fmt.Sprintf("program %d", p.handle), Err: ane.ErrBusy,
			Detail: fmt.Sprintf("evaluations in flight: %d", flying), Hint: "wait for them, or cancel them"}
	}
	if !wired {
		if err := c.detach(p); err != nil {
			return err
		}
	}
	c.mu.Lock()
	p.loaded = false
	c.mu.Unlock()
	return nil
}
