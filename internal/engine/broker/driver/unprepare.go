package driver

import (
	"context"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// unprepare unloads the program, unless another attachment needs it. With requests in
// flight it is Busy.
func unprepare(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	x := Parse[Unprepare](a.StructIn)
	c.slow.Lock()
	defer c.slow.Unlock()
	d.mu.Lock()
	own := c.tokens[x.Token]
	if own == nil || own.state != isPrepared {
		d.mu.Unlock()
		return c.refuse(driverabi.BadArgument, "no prepared program of this client",
			"give the token that prepare answered with", nil)
	}
	if n := own.flying; n > 0 {
		d.mu.Unlock()
		return c.refuse(driverabi.Busy, counted(n, "requests in flight"), "cancel them or wait for them", nil)
	}
	own.state = isUnprepared
	d.mu.Unlock()
	if err := c.unload(own); err != nil {
		return c.refuse(resultOf(err), "the program did not unload cleanly", "", err)
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
	bound := own.matching(everyone)
	c.unbind(bound)
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
	x := Parse[Destroy](a.StructIn)
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
		return c.refuse(driverabi.BadArgument, "no program of this client, or one that is prepared",
			"unprepare it with selector 5 first", nil)
	}
	if err := c.detach(own); err != nil {
		return c.refuse(resultOf(err), "the instance did not close cleanly", "", err)
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
// is accepted. No caller is left for the engine's errors. The caller holds slow.
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
