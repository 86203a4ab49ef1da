package server

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/broker/wire"
	"github.com/anekit/anekit/ane/driverabi"
)

// program is one entry of a client's table: a program that it compiled, or an
// instance with weights of its own. The session's lock guards it.
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

	bound  int          // requests
	flying int          // evaluations
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

// attachment is what a session has loaded of a resident program, once for all its
// handles, since the driver knows a client's program by its resource.
type attachment struct {
	token uint64
	users int // handles that are loaded, or wired
}

// programOf finds a program by its handle.
func (c *session) programOf(op string, handle uint32) (*program, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.programs[handle]; p != nil {
		return p, nil
	}
	return nil, unknown(op, "program", handle)
}

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
		return MaxFlying
	}
	return max(1, min(int(wanted), MaxFlying/max(1, int(c.active.Load()))))
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

// releaseProgram frees a program that no request uses.
func (c *session) releaseProgram(f *wire.Frame) error {
	var q wire.Release
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	p, err := c.programOf("release", q.Program)
	if err != nil {
		return err
	}
	if p.bound > 0 {
		return &ane.Error{Op: "release", Engine: Name, Name: fmt.Sprintf("program %d", q.Program), Err: ane.ErrInUse,
			Detail: fmt.Sprintf("requests: %d", p.bound), Hint: "unbind them first"}
	}
	if p.loaded {
		if err := c.unload(p); err != nil {
			return err
		}
	}
	if err := c.detach(p); err != nil { // it was wired
		return err
	}
	if p.inst != nil {
		if err := c.dev.unload(p.token); err != nil {
			return err
		}
	}
	c.mu.Lock()
	delete(c.programs, q.Program)
	c.mu.Unlock()
	if err := c.forget(p); err != nil {
		return err
	}
	return c.reply(f, &wire.Empty{})
}

// forget gives back what stands behind an entry that the driver has let go of.
func (c *session) forget(p *program) error {
	var err error
	if p.inst != nil {
		err = p.inst.close(c.driver)
	}
	return errors.Join(err, c.live.release(p.res))
}

// free gives back everything. The driver has ended its client.
func (c *session) free() error {
	var errs []error
	for _, s := range c.surfaces {
		errs = append(errs, c.lose(s))
	}
	for _, p := range c.programs {
		errs = append(errs, c.forget(p))
	}
	return errors.Join(errs...)
}

// enterProgram puts a program into the table; ErrExhausted when it is full.
func (c *session) enterProgram(p *program) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.programs) >= MaxPrograms {
		return exhausted("compile", "", "programs", MaxPrograms, "release programs")
	}
	p.handle = c.take(func(h uint32) bool { return c.programs[h] != nil })
	c.programs[p.handle] = p
	return nil
}

// status tells about a program.
func (c *session) status(f *wire.Frame) error {
	var q wire.Status
	if err := q.Parse(f.Payload); err != nil {
		return err
	}
	p, err := c.programOf("status", q.Program)
	if err != nil {
		return err
	}
	c.mu.Lock()
	r := wire.StatusReply{Program: q.Program, Loaded: p.loaded, Resident: p.token != 0, Done: p.done, Args: p.args}
	r.Args.QueueDepth = uint32(p.depth)
	flying := uint32(p.flying)
	c.mu.Unlock()
	// The driver runs one request at a time and does not tell whose it is. What is
	// out and not waiting in its queue is running.
	s, err := c.dev.status()
	if err != nil {
		return err
	}
	r.Running = min(flying, flying-min(flying, s.Queued), s.Running)
	r.Queued = flying - r.Running
	return c.reply(f, &r)
}
