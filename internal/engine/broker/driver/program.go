package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// program is an Executable that clients of one identity share while it is created.
type program struct {
	exec         ane.Executable
	in, out      []ane.Layout
	intermediate uint64     // handle of the buffers between its operations
	gate         sync.Mutex // Load, Unload, Prepare and Close, one at a time; guards loaded
	loaded       int        // attachments that have it prepared
}

// States of an attachment: the order that a client has to keep.
const (
	isCreated = iota
	isPrepared
	isUnprepared
)

// attachment is a client's hold on a program, or on an instance, which is its own.
type attachment struct {
	program *program
	token   uint64
	uses    []*resource // the one that names it, and of an instance also the base's
	flags   uint32      // of an instance
	depth   int         // of an instance, 0 for the client's

	// The Driver's lock guards the rest. State and bound are written with slow as well.
	state  int
	flying int
	bound  map[string]*binding // by their surfaces
}

func (x *attachment) isInstance() bool { return len(x.uses) > 1 }

// created is the attachment that a resource names, nil where there is none. The caller
// holds slow.
func (c *Client) created(number uint64) *attachment {
	for _, x := range c.tokens {
		if x.uses[0].number == number {
			return x
		}
	}
	return nil
}

// refuseCreated is the answer to creating twice.
func refuseCreated() error {
	return refuse(driverabi.BadArgument, "created already", "prepare it, or destroy it first")
}

// create attaches the client to a program. A program that another identity has created is NotPermitted, and so is
// sharing without an identity. A program that the client has created already is BadArgument.
func create(n *connection, x Create) error {
	c, d := n.client, n.client.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.resources[x.Resource]
	switch {
	case r == nil || r.program == nil:
		return refuse(driverabi.BadArgument, "no program of this number", "give the number that the broker has for it")
	case c.created(x.Resource) != nil:
		return refuseCreated()
	case r.users > 0 && (r.owner != c.info.Identity || r.owner == ""):
		return refuse(driverabi.NotPermitted, "the program is resident for another identity", "compile it for this one")
	}
	r.owner = c.info.Identity
	r.users++
	c.attach(&attachment{program: r.program, uses: []*resource{r}})
	return nil
}

// attach enters a new attachment, whose resources count it already. The caller holds slow
// and the lock.
func (c *Client) attach(x *attachment) {
	x.bound = map[string]*binding{}
	for x.token == 0 || c.tokens[x.token] != nil {
		x.token = token()
	}
	c.tokens[x.token] = x
}

// prepare loads the program, unless another attachment has, and gives its token.
func prepare(n *connection, x Prepare) (Prepare, error) {
	c, d := n.client, n.client.driver
	own := c.created(x.Resource)
	if own == nil || own.state == isPrepared {
		return x, refuse(driverabi.BadArgument, "not created by this client, or prepared already",
			"create it with selector 3 or 8, and prepare it once")
	}
	p := own.program
	p.gate.Lock()
	defer p.gate.Unlock()
	if p.loaded == 0 {
		if err := p.exec.Load(c.ctx); err != nil {
			return x, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.loaded++; p.loaded == 1 {
		d.counts.Resident++
	}
	own.state = isPrepared
	return Prepare{Resource: x.Resource, Token: own.token, Intermediate: p.intermediate}, nil
}

// unprepare unloads the program, unless another attachment needs it.
func unprepare(n *connection, x Unprepare) error {
	own := n.client.tokens[x.Token]
	if own == nil || own.state != isPrepared {
		return refuse(driverabi.BadArgument, "no prepared program of this client",
			"give the token that prepare answered with")
	}
	return n.client.unload(own)
}

// unload closes what is bound to own, which is prepared, and unloads its program with the
// last. With requests in flight it is Busy. The caller holds slow.
func (c *Client) unload(own *attachment) error {
	d, p := c.driver, own.program
	d.mu.Lock()
	if n := own.flying; n > 0 {
		d.mu.Unlock()
		return refuse(driverabi.Busy, counted(n, "requests in flight"), "cancel them or wait for them")
	}
	own.state = isUnprepared // it takes no requests from here on
	maps.DeleteFunc(c.chains, func(_ uint64, ch *chain) bool { return ch.own == own })
	d.mu.Unlock()
	bound, _ := c.unbind(func(b *binding) bool { return b.owner == own })
	err := closeAll(bound)
	p.gate.Lock()
	defer p.gate.Unlock()
	if p.loaded--; p.loaded > 0 {
		return err
	}
	d.mu.Lock()
	d.counts.Resident--
	d.mu.Unlock()
	return errors.Join(err, p.exec.Unload(context.Background())) // the client may be going, but not its program
}

// destroy forgets a program that is not prepared.
func destroy(n *connection, x Destroy) error {
	c := n.client
	own := c.tokens[x.Token]
	if x.Token == 0 {
		own = c.created(x.Resource)
	}
	if own == nil || own.state == isPrepared {
		return refuse(driverabi.BadArgument, "no program of this client, or one that is prepared",
			"unprepare it with selector 5 first")
	}
	return c.detach(own)
}

// detach removes own, and closes it if it is an instance. The caller holds slow.
func (c *Client) detach(own *attachment) (err error) {
	if own.isInstance() {
		err = own.program.exec.Close()
	}
	d := c.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(c.tokens, own.token)
	d.use(-1, own.uses)
	return err
}

// use counts a new user of resources, or one less. An instance has two. The caller holds
// the lock.
func (d *Driver) use(by int, uses []*resource) {
	for _, r := range uses {
		r.users += by
	}
	d.counts.Instances += by * (len(uses) - 1)
}

// dropPrograms unprepares and destroys everything; no request is in flight, and none
// is accepted. No caller is left for the engine's errors. The caller holds slow.
func (c *Client) dropPrograms() {
	for _, own := range c.tokens {
		if own.state == isPrepared {
			_ = c.unload(own)
		}
		_ = c.detach(own)
	}
}

// createInstance makes a program of a resident base, which the client has prepared,
// and of weights of its own, and attaches the client to it. It shares the handle of
// the base's intermediate buffers.
//
// Both arguments about power choose a place in the queue, since a software engine has no power state. KeepWired changes
// nothing, since this driver never unwires a loaded program.
func createInstance(n *connection, x Instance) error {
	c, d := n.client, n.client.driver
	d.mu.Lock()
	base, w := c.tokens[x.Base], d.resources[x.Resource]
	if err := c.mayInstantiate(&x, base, w); err != nil {
		d.mu.Unlock()
		return err
	}
	uses := []*resource{w, base.uses[0]}
	d.use(1, uses)
	d.mu.Unlock()
	p, err := c.instance(base.program, w.weights)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.use(-1, uses)
		return err
	}
	d.counts.Created++
	c.attach(&attachment{program: p, uses: uses, flags: x.Flags, depth: int(x.Depth)})
	return nil
}

// mayInstantiate refuses what no client may ask of an instance, and what this one may not.
// The caller holds slow and the lock.
func (c *Client) mayInstantiate(x *Instance, base *attachment, w *resource) error {
	switch {
	case x.Flags&^(PowerSaving|MoreAggressive|KeepWired) != 0:
		return refuse(driverabi.BadArgument, fmt.Sprintf("arguments %#x", x.Flags),
			"use PowerSaving, MoreAggressive, KeepWired")
	case x.Flags&MoreAggressive != 0 && !c.info.Restricted:
		return refuse(driverabi.NotPrivileged,
			driverabi.EntitlementAggressivePower+": aggressive power saving is for the restricted tier",
			"ask for PowerSaving")
	case x.Depth > driverabi.QueueDepth:
		return refuse(driverabi.BadArgument, fmt.Sprintf("queue depth %d", x.Depth),
			fmt.Sprintf("at most %d", driverabi.QueueDepth))
	case base == nil || base.isInstance() || w == nil || w.weights == nil:
		return refuse(driverabi.BadArgument, "no base program of this client, or no weights of this number",
			"give the token of a prepared program and the number of added weights")
	case base.state != isPrepared:
		return refuse(driverabi.NotReady, "the base program is not resident", "prepare it with selector 4")
	case c.created(x.Resource) != nil:
		return refuseCreated()
	}
	return nil
}

// instance makes a program of a base and other weights.
func (c *Client) instance(base *program, weights ane.Weights) (*program, error) {
	own, ok := base.exec.(Instancer)
	if !ok {
		return nil, refuse(driverabi.Unsupported, "the engine cannot give a program other weights",
			"compile the program with them")
	}
	exec, err := own.NewInstance(c.ctx, weights)
	if err != nil {
		return nil, err
	}
	p := &program{exec: exec, in: exec.Inputs(), out: exec.Outputs(), intermediate: base.intermediate}
	if !same(base.in, p.in) || !same(base.out, p.out) {
		_ = exec.Close()
		return nil, fault("create instance", ane.ErrMismatch, "its inputs and outputs differ from the base's",
			"change weights only")
	}
	return p, nil
}

// same reports whether two programs take the same tensors.
func same(a, b []ane.Layout) bool {
	return slices.EqualFunc(a, b, func(x, y ane.Layout) bool { return x.Name == y.Name && x.Equal(y) })
}

// level is the level of a request of x with a session's hint.
func (x *attachment) level(qos, hint uint32) int {
	level := driverabi.Class(qos).Queue
	switch {
	case x.flags&MoreAggressive != 0, hint == HintBackground:
		return Levels - 1
	case x.flags&PowerSaving != 0:
		return min(level+1, Levels-1)
	}
	return level
}
