package driver

import "github.com/anekit/anekit/ane/driverabi"

// chain is a program with output sets that wait for inputs. The Driver's lock guards
// it.
type chain struct {
	own  *attachment
	sets [][]uint32
}

// chainingPrepare makes the chain of a prepared program.
func chainingPrepare(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	var s driverabi.ChainingPrepare
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x Chain
	x.decode(&s)
	d.mu.Lock()
	own := c.tokens[x.Token]
	ok := own != nil && own.state == isPrepared
	for _, ch := range c.chains {
		ok = ok && ch.own != own
	}
	if ok {
		for x.Token = token(); c.chains[x.Token] != nil; {
			x.Token = token()
		}
		c.chains[x.Token] = &chain{own: own}
	}
	d.mu.Unlock()
	if !ok {
		return c.refuse(driverabi.BadArgument, "no prepared program of this client, or one that has a chain", nil)
	}
	x.Sets = MaxOutputSets
	var reply driverabi.ChainingPrepareReply
	x.encode(&reply)
	if err := reply.Encode(a.StructOut); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	return driverabi.Success
}

func (c *Client) noChaining() driverabi.Return {
	return c.refuse(driverabi.NotPrivileged, "com.apple.ane.allow-dataChaining-access", nil)
}

// enqueueOutputs adds an output set to a chain; Full when MaxOutputSets wait.
func enqueueOutputs(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	var s driverabi.OutputSetEnqueue
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x OutputSet
	if !x.decode(&s) {
		return c.refuse(driverabi.BadArgument, "count of surfaces", nil)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ch := c.chains[x.Chain]
	if ch == nil || len(x.Surfaces) != len(ch.own.program.exec.Outputs()) {
		return c.refuse(driverabi.BadArgument, "no chain of this client, or not one surface for each output", nil)
	}
	for _, id := range x.Surfaces {
		if c.mapped[id] == nil {
			return c.refuse(driverabi.BadArgument, "a surface is not mapped", nil)
		}
	}
	if len(ch.sets) >= MaxOutputSets {
		return c.refuse(Full, "output sets waiting", nil)
	}
	ch.sets = append(ch.sets, x.Surfaces)
	return driverabi.Success
}

// inputsReady runs a chain's program on the first output set and answers when it has
// run. A request that is refused leaves the set in its place.
func inputsReady(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	if a.AsyncPort != 0 {
		return c.refuse(driverabi.BadArgument, "only selector 2 completes asynchronously", nil)
	}
	var s driverabi.SendRequest
	if err := s.Decode(a.StructIn[:driverabi.SendRequestSize]); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var room [2 * driverabi.MaxSurfaces]uint32
	ids := s.Surfaces(room[:0])
	d.mu.Lock()
	ch := c.chains[s.Token]
	if ch == nil || len(ch.sets) == 0 {
		d.mu.Unlock()
		return c.refuse(driverabi.BadArgument, "no chain of this client, or no output set", nil)
	}
	set := ch.sets[0]
	ch.sets = ch.sets[1:]
	s.Token = ch.own.token
	d.mu.Unlock()
	ids = append(ids, set...)
	accepted, ret := c.submit(&s, ids, 0, 0, nil)
	if !accepted {
		d.mu.Lock()
		ch.sets = append([][]uint32{set}, ch.sets...)
		d.mu.Unlock()
	}
	return ret
}

// setActiveProcedure accepts the one procedure that a program has.
func setActiveProcedure(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	var s driverabi.SetActiveProcedure
	if err := s.Decode(a.StructIn); err != nil {
		return c.refuse(driverabi.BadArgument, "", err)
	}
	var x Procedure
	x.decode(&s)
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.chains[x.Chain] == nil || x.Number != 0 {
		return c.refuse(driverabi.BadArgument, "no chain of this client, or a procedure other than 0", nil)
	}
	return driverabi.Success
}
