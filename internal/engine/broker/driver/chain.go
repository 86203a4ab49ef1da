package driver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// chain is a program with output sets that wait for inputs. The Driver's lock guards
// it.
type chain struct {
	own     *attachment
	sets    []outputSet // by number
	count   uint64      // sets ever enqueued
	stopped bool        // by StopChain: no request is accepted until the procedure is set
	failure error       // of the engine, in the chain's last request
}

// outputSet is the outputs of one future run. Numbers keep the order when a set that was
// taken is put back.
type outputSet struct {
	number   uint64
	surfaces []uint32
}

// put puts a set in its place.
func (ch *chain) put(s outputSet) {
	i, _ := slices.BinarySearchFunc(ch.sets, s.number,
		func(x outputSet, n uint64) int { return cmp.Compare(x.number, n) })
	ch.sets = slices.Insert(ch.sets, i, s)
}

// chainingPrepare makes the chain of a prepared program.
func chainingPrepare(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	x := Parse[Chain](a.StructIn)
	reply := Chained{Sets: MaxOutputSets}
	d.mu.Lock()
	own := c.tokens[x.Token]
	ok := own != nil && own.state == isPrepared
	for _, ch := range c.chains {
		ok = ok && ch.own != own
	}
	if ok {
		for reply.Token == 0 || c.chains[reply.Token] != nil {
			reply.Token = token()
		}
		c.chains[reply.Token] = &chain{own: own}
	}
	d.mu.Unlock()
	if !ok {
		return c.refuse(driverabi.BadArgument, "no prepared program of this client, or one that has a chain",
			"prepare it with selector 4, and make its chain once", nil)
	}
	copy(a.StructOut, Bytes(reply))
	return driverabi.Success
}

func (c *Client) noChaining() driverabi.Return {
	return c.refuse(driverabi.NotPrivileged, driverabi.EntitlementDataChaining, "send requests with selector 2", nil)
}

// enqueueOutputs adds an output set to a chain; Full when MaxOutputSets wait.
func enqueueOutputs(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	x := Parse[OutputSet](a.StructIn)
	if x.Count == 0 || x.Count > MaxOutputs {
		return c.refuse(driverabi.BadArgument, "a count of surfaces that is 0 or too large",
			fmt.Sprintf("name 1 to %d", MaxOutputs), nil)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ch := c.chains[x.Chain]
	if ch == nil || int(x.Count) != len(ch.own.program.out) {
		return c.refuse(driverabi.BadArgument, "no chain of this client, or not one surface for each output",
			"give the token that selector 9 answered with, and every output a surface", nil)
	}
	surfaces := x.Surfaces[:x.Count]
	for _, id := range surfaces {
		if c.mapped[id] == nil {
			return c.refuse(driverabi.BadArgument, fmt.Sprintf("surface %d is not mapped", id),
				"map it with direct selector 5",
				nil)
		}
	}
	if len(ch.sets) >= MaxOutputSets {
		return c.refuse(Full, counted(len(ch.sets), "output sets waiting"), "send inputs for one first", nil)
	}
	ch.count++
	ch.put(outputSet{ch.count, surfaces})
	return driverabi.Success
}

// inputsReady runs a chain's program on the first output set and answers when it has
// run. A request that is refused leaves the set in its place.
func inputsReady(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	var room [driverabi.MaxSurfaces + MaxOutputs]uint32
	o := read(a.StructIn, room[:0])
	d.mu.Lock()
	ch := c.chains[o.token]
	if ch == nil || len(ch.sets) == 0 {
		d.mu.Unlock()
		return c.refuse(driverabi.BadArgument, "no chain of this client, or no output set",
			"give the token that selector 9 answered with, and enqueue outputs with direct selector 3", nil)
	}
	set := ch.sets[0]
	ch.sets = slices.Delete(ch.sets, 0, 1)
	ch.failure = nil
	o.token = ch.own.token
	d.mu.Unlock()
	o.surfaces = append(o.surfaces, set.surfaces...)
	accepted, ret := c.submit(&o, ch, nil)
	if !accepted {
		d.mu.Lock()
		ch.put(set)
		d.mu.Unlock()
	}
	return ret
}

// StopChain ends the request of a chain that is in flight, and refuses further ones until
// the chain's procedure is set. It tells where the request stood.
func (c *Client) StopChain(token uint64) Found {
	if !c.alive() {
		return NotFound
	}
	c.driver.mu.Lock()
	ch := c.chains[token]
	if ch != nil {
		ch.stopped = true
	}
	return c.stop(func(r *request) bool { return ch != nil && r.chain == ch }) // releases the lock
}

// ExplainChain tells why the last request of a chain failed, as Explain does.
func (c *Client) ExplainChain(token uint64) error {
	if !c.alive() {
		return nil
	}
	c.driver.mu.Lock()
	ch := c.chains[token]
	var failure error
	if ch != nil {
		failure = ch.failure
	}
	c.driver.mu.Unlock()
	if failure != nil {
		return failure
	}
	return c.Explain()
}

// setActiveProcedure accepts the one procedure that a program has. The chain begins again
// with it: without output sets, and after StopChain.
func setActiveProcedure(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.AllowDataChaining {
		return c.noChaining()
	}
	x := Parse[Procedure](a.StructIn)
	d.mu.Lock()
	defer d.mu.Unlock()
	ch := c.chains[x.Chain]
	if ch == nil || x.Number != 0 {
		return c.refuse(driverabi.BadArgument, "no chain of this client, or a procedure other than 0",
			"give the token that selector 9 answered with, and procedure 0", nil)
	}
	ch.sets, ch.stopped = nil, false
	return driverabi.Success
}
