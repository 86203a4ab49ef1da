package driver

import (
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// program is an Executable that clients of one identity share while it is created.
type program struct {
	exec         ane.Executable
	in, out      []ane.Layout
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
	bound  map[uint64][]*binding // by hash of their surfaces
}

// create attaches the client to a program. What another identity has created is
// NotPermitted, and so is sharing without an identity; what the client itself has
// created already is BadArgument.
func create(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	x := Parse[Create](a.StructIn)
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.programs[x.Resource]
	switch {
	case p == nil:
		return c.refuse(driverabi.BadArgument, "no program of this number",
			"give the number that the broker has for it", nil)
	case c.created[x.Resource] != nil:
		return c.refuse(driverabi.BadArgument, "created already", "prepare it, or destroy it first", nil)
	case p.users > 0 && (p.owner != c.info.Identity || p.owner == ""):
		return c.refuse(driverabi.NotPermitted, "the program is resident for another identity",
			"compile it for this one",
			nil)
	}
	return c.attach(&attachment{program: p, resource: x.Resource})
}

// attach enters a new attachment to what the client has not created yet. The caller
// holds slow and the lock.
func (c *Client) attach(x *attachment) driverabi.Return {
	if c.quiet.Load() > 0 {
		return c.refuse(driverabi.NotOpen, "a connection of this client is closing", "call again when it has closed",
			nil)
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
	x := Parse[Prepare](a.StructIn)
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	own := c.created[x.Resource]
	ready := own != nil && own.state != isPrepared && c.quiet.Load() == 0
	d.mu.Unlock()
	if !ready {
		return c.refuse(driverabi.BadArgument, "not created by this client, or prepared already",
			"create it with selector 3 or 8, and prepare it once", nil)
	}
	if err := c.load(own); err != nil {
		return c.refuse(resultOf(err), "the program cannot be loaded", "", err)
	}
	x.Token, x.Intermediate = own.token, own.program.intermediate
	copy(a.StructOut, Bytes(x))
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
