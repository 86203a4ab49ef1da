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

// enterProgram gives a program its handle and answers with r. It does not enter what it
// cannot tell the client about.
func (c *session) enterProgram(f *wire.Frame, p *program, r *wire.Compiled) error {
	r.In, r.Out = p.in, p.out
	if err := wire.Check(r); err != nil {
		return err
	}
	if r.Program = c.enlist(p); r.Program == 0 {
		return exhausted("compile", "", "programs", MaxPrograms, "release programs")
	}
	return c.reply(f, r)
}

// enlist enters a program and returns its handle, 0 when the table is full.
func (c *session) enlist(p *program) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.programs) >= MaxPrograms {
		return 0
	}
	p.handle = c.take(func(h uint32) bool { return c.programs[h] != nil })
	c.programs[p.handle] = p
	return p.handle
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
