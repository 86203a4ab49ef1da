package driver

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// CheckInstance tells what a client may not ask of an instance, by name: the error
// matches ane.ErrDenied for what its tier forbids and ane.ErrName for arguments that
// do not exist or are out of range. Both arguments about power are honoured as a place
// in the queue, since a software engine has no power state; KeepWired is honoured
// by every program alike, since this driver never unwires a loaded one.
func (i ClientInfo) CheckInstance(flags, depth uint32) error {
	switch {
	case flags&^(PowerSaving|MoreAggressive|KeepWired) != 0:
		return fault("create instance", ane.ErrName, fmt.Sprintf("arguments %#x", flags),
			"use PowerSaving, MoreAggressive, KeepWired")
	case flags&MoreAggressive != 0 && !i.Restricted:
		return fault("create instance", ane.ErrDenied,
			driverabi.EntitlementAggressivePower+": aggressive power saving is for the restricted tier",
			"ask for PowerSaving")
	case depth > driverabi.QueueDepth:
		return fault("create instance", ane.ErrName, fmt.Sprintf("queue depth %d", depth),
			fmt.Sprintf("at most %d", driverabi.QueueDepth))
	}
	return nil
}

// createInstance makes a program of a resident base, which the client has prepared,
// and of weights of its own, and attaches the client to it. It shares the handle of
// the base's intermediate buffers.
func createInstance(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	x := Parse[Instance](a.StructIn)
	if err := c.info.CheckInstance(x.Flags, x.Depth); err != nil {
		if x.Flags&MoreAggressive != 0 && !c.info.Restricted {
			return c.refuse(driverabi.NotPrivileged, "", "", err)
		}
		return c.refuse(driverabi.BadArgument, "", "", err)
	}
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	base, w := c.tokens[x.Base], d.weights[x.Resource]
	switch {
	case base == nil || w == nil:
		d.mu.Unlock()
		return c.refuse(driverabi.BadArgument, "no base program of this client, or no weights of this number",
			"give the token of a prepared program and the number of added weights", nil)
	case base.state != isPrepared:
		d.mu.Unlock()
		return c.refuse(driverabi.NotReady, "the base program is not resident", "prepare it with selector 4", nil)
	case c.created[x.Resource] != nil:
		d.mu.Unlock()
		return c.refuse(driverabi.BadArgument, "created already", "prepare it, or destroy it first", nil)
	}
	base.program.users++
	w.users++
	d.instances++
	p := &program{intermediate: base.program.intermediate, base: base.program, weights: w}
	d.mu.Unlock()
	err := c.instance(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.dropInstance(p)
		return c.refuse(resultOf(err), "the instance cannot be made", "", err)
	}
	d.created++
	// slow is held, so no object was closed without waiting for it
	ret := c.attach(&attachment{program: p, resource: x.Resource, flags: x.Flags, depth: int(x.Depth)})
	if ret != driverabi.Success {
		d.dropInstance(p)
		d.mu.Unlock()
		_ = p.exec.Close() // it was never loaded
		d.mu.Lock()
	}
	return ret
}

// instance makes p's Executable: by the base itself, or by Options.Instance.
func (c *Client) instance(p *program) (err error) {
	base := p.base.exec
	switch own, ok := base.(Instancer); {
	case ok:
		p.exec, err = own.NewInstance(c.ctx, p.weights.files)
	case c.driver.opts.Instance != nil:
		p.exec, err = c.driver.opts.Instance(c.ctx, base, p.weights.files)
	default:
		return fault("create instance", driverabi.Unsupported, "the engine cannot give a program other weights",
			"compile the program with them")
	}
	if err != nil {
		return err
	}
	p.in, p.out = p.exec.Inputs(), p.exec.Outputs()
	if !same(p.base.in, p.in) || !same(p.base.out, p.out) {
		_ = p.exec.Close()
		return fault("create instance", ane.ErrMismatch, "its inputs and outputs differ from the base's",
			"change weights only")
	}
	return nil
}

// same reports whether two programs take the same tensors.
func same(a, b []ane.Layout) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// dropInstance undoes the counts of an instance. The caller holds the lock.
func (d *Driver) dropInstance(p *program) {
	p.base.users--
	p.weights.users--
	d.instances--
}
