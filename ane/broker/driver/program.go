package driver

import (
	"context"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
)

// program is an Executable that clients of one identity share while it is created.
type program struct {
	exec         ane.Executable
	intermediate uint64     // handle of the buffers between its operations
	gate         sync.Mutex // Load, Unload, Prepare and Close, one at a time

	// The Driver's lock guards the rest; loaded is written with gate as well.
	users  int    // attachments, and instances made of it
	loaded int    // attachments that have it prepared
	owner  string // Identity of the users

	// Of an instance, which the driver owns:
	base    *program
	weights *weights
}

// States of an attachment: the order that a client has to keep.
const (
	isCreated = iota
	isPrepared
	isUnprepared
)

// attachment is a client's hold on a program.
type attachment struct {
	program  *program
	resource uint64
	token    uint64
	flags    uint32 // of an instance
	depth    int    // of an instance, 0 for the client's

	// The Driver's lock guards the rest.
	state  int
	flying int
	turn   uint64 // counts requests, to age bindings
	bound  map[uint64][]*binding
	count  int
	last   *binding // the one that ran last
}

// create attaches the client to a program. Another identity's resident program is
// NotPermitted; what the client has created already is BadArgument.
func create(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var s driverabi.ProgramCreate
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x Create
	x.Decode(&s)
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.programs[x.Resource]
	switch {
	case p == nil:
		return c.refuse(driverabi.BadArgument, "no program of this number", nil)
	case p.users > 0 && p.owner != c.info.Identity:
		return c.refuse(driverabi.NotPermitted, "the program is resident for another identity", nil)
	}
	return c.attach(&attachment{program: p, resource: x.Resource})
}

// attach enters a new attachment. The caller holds the lock.
func (c *Client) attach(x *attachment) driverabi.Return {
	if c.closing || c.barred > 0 {
		return c.refuse(driverabi.NotOpen, "the connection is closing", nil)
	}
	if c.created[x.resource] != nil {
		return c.refuse(driverabi.BadArgument, "created already", nil)
	}
	x.bound = map[uint64][]*binding{}
	for x.token == 0 || c.tokens[x.token] != nil {
		x.token = token()
	}
	x.program.users++
	x.program.owner = c.info.Identity
	c.created[x.resource], c.tokens[x.token] = x, x
	return driverabi.Success
}

// prepare loads the program, unless another attachment has, and gives its token.
func prepare(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var s driverabi.ProgramPrepare
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x Prepare
	x.Decode(&s)
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	own := c.created[x.Resource]
	ready := own != nil && own.state != isPrepared && !c.closing && c.barred == 0
	d.mu.Unlock()
	if !ready {
		return c.refuse(driverabi.BadArgument, "not created by this client, or prepared already", nil)
	}
	if err := c.load(own); err != nil {
		return c.refuse(resultOf(err), "the program cannot be loaded", err)
	}
	x.Token, x.Intermediate = own.token, own.program.intermediate
	x.Encode(&s)
	if err := s.Encode(a.StructOut); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	return driverabi.Success
}

// load counts own's program as loaded and loads it if it was not. The caller holds
// slow.
func (c *Client) load(own *attachment) error {
	d, p := c.driver, own.program
	p.gate.Lock()
	defer p.gate.Unlock()
	if p.loaded == 0 {
		if err := p.exec.Load(c.ctx); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.loaded++; p.loaded == 1 {
		d.resident++
	}
	own.state = isPrepared
	return nil
}

// unprepare unloads the program, unless another attachment needs it. With requests in
// flight it is Busy.
func unprepare(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var s driverabi.ProgramUnprepare
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x Unprepare
	x.Decode(&s)
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	own := c.tokens[x.Token]
	if own == nil || own.state != isPrepared {
		d.mu.Unlock()
		return c.refuse(driverabi.BadArgument, "no prepared program of this client", nil)
	}
	if n := own.flying; n > 0 {
		d.mu.Unlock()
		return c.refuse(driverabi.Busy, counted(n, "requests in flight"), nil)
	}
	own.state = isUnprepared
	d.mu.Unlock()
	if err := c.unload(own); err != nil {
		return c.refuse(resultOf(err), "the program did not unload cleanly", err)
	}
	return driverabi.Success
}

// unload closes what is bound to own, which has no requests and takes none, and unloads
// its program with the last. The caller holds slow.
func (c *Client) unload(own *attachment) error {
	d, p := c.driver, own.program
	d.mu.Lock()
	for token, ch := range c.chains {
		if ch.own == own {
			delete(c.chains, token)
		}
	}
	bound := own.unbind(func(*binding) bool { return true })
	d.bound -= len(bound)
	d.mu.Unlock()
	first := closeAll(bound)
	p.gate.Lock()
	defer p.gate.Unlock()
	d.mu.Lock()
	p.loaded--
	last := p.loaded == 0
	if last {
		d.resident--
	}
	d.mu.Unlock()
	if last { // the client may be going, but its program has to be unloaded
		if err := p.exec.Unload(context.Background()); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// destroy forgets a program that is not prepared.
func destroy(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	var s driverabi.ProgramDestroy
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x Destroy
	x.Decode(&s)
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	own := c.tokens[x.Token]
	if x.Token == 0 {
		own = c.created[x.Resource]
	}
	ok := own != nil && own.state != isPrepared
	d.mu.Unlock()
	if !ok {
		return c.refuse(driverabi.BadArgument, "no program of this client, or one that is prepared", nil)
	}
	if err := c.detach(own); err != nil {
		return c.refuse(resultOf(err), "the instance did not close cleanly", err)
	}
	return driverabi.Success
}

// detach removes own; an instance goes with its last user. The caller holds slow.
func (c *Client) detach(own *attachment) error {
	d, p := c.driver, own.program
	d.mu.Lock()
	delete(c.created, own.resource)
	delete(c.tokens, own.token)
	p.users--
	gone := p.base != nil && p.users == 0
	d.mu.Unlock()
	if !gone {
		return nil
	}
	err := p.exec.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropInstance(p)
	return err
}

// dropPrograms unprepares and destroys everything; no request is in flight, and none
// is let in. What an engine says to that has no one to go to. The caller holds slow.
func (c *Client) dropPrograms() {
	d := c.driver
	for {
		d.mu.Lock()
		var own *attachment
		for _, own = range c.created {
			break
		}
		prepared := own != nil && own.state == isPrepared
		if prepared {
			own.state = isUnprepared
		}
		d.mu.Unlock()
		if own == nil {
			return
		}
		if prepared {
			_ = c.unload(own)
		}
		_ = c.detach(own)
	}
}
