package driver

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// chain is a program with output sets that wait for inputs. The Driver's lock guards
// it.
type chain struct {
	own     *attachment
	sets    [][]byte // the identifiers of each, in the order in which they were enqueued
	stopped bool     // by StopChain: no request is accepted until the procedure is set
}

// chaining demands the entitlement of the chaining selectors.
func chaining(h handler) handler {
	return func(n *connection, a *driverabi.Args) error {
		if !n.client.info.AllowDataChaining {
			return refuse(driverabi.NotPrivileged, driverabi.EntitlementDataChaining, "send requests with selector 2")
		}
		return h(n, a)
	}
}

// chainingPrepare makes the chain of a prepared program.
func chainingPrepare(n *connection, x Chain) (Chained, error) {
	c, d := n.client, n.client.driver
	reply := Chained{Sets: MaxOutputSets}
	d.mu.Lock()
	defer d.mu.Unlock()
	own := c.tokens[x.Token]
	ok := own != nil && own.state == isPrepared
	for _, ch := range c.chains {
		ok = ok && ch.own != own
	}
	if !ok {
		return reply, refuse(driverabi.BadArgument, "no prepared program of this client, or one that has a chain",
			"prepare it with selector 4, and make its chain once")
	}
	for reply.Token == 0 || c.chains[reply.Token] != nil {
		reply.Token = token()
	}
	c.chains[reply.Token] = &chain{own: own}
	return reply, nil
}

// enqueueOutputs adds an output set to a chain; Full when MaxOutputSets wait.
func enqueueOutputs(n *connection, x OutputSet) error {
	c, d := n.client, n.client.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	ch := c.chains[x.Chain]
	if ch == nil || x.Count > MaxOutputs || int(x.Count) != len(ch.own.program.out) {
		return refuse(driverabi.BadArgument, "no chain of this client, or not one surface for each output",
			fmt.Sprintf("give the token of a chain, and each output, of at most %d, a surface", MaxOutputs))
	}
	var set []byte
	for _, id := range x.Surfaces[:x.Count] {
		if c.mapped[id] == nil {
			return refuse(driverabi.BadArgument, fmt.Sprintf("surface %d is not mapped", id),
				"map it with direct selector 5")
		}
		set = le.AppendUint32(set, id)
	}
	if len(ch.sets) >= MaxOutputSets {
		return refuse(Full, counted(len(ch.sets), "output sets waiting"), "send inputs for one first")
	}
	ch.sets = append(ch.sets, set)
	return nil
}

// inputsReady runs a chain's program on the first output set and answers when it has
// run. A request that is refused leaves the set in its place.
func inputsReady(n *connection, a *driverabi.Args) error {
	c, d := n.client, n.client.driver
	o, err := c.read(a.StructIn)
	if err != nil {
		return err
	}
	d.mu.Lock()
	o.chain = c.chains[o.token]
	d.mu.Unlock()
	if o.chain == nil {
		return refuse(driverabi.BadArgument, "no chain of this client", "give the token that selector 9 answered with")
	}
	o.token, o.surfaces, o.inputs = o.chain.own.token, slices.Clone(o.surfaces), len(o.surfaces)
	return c.submit(&o, nil)
}

// StopChain ends the request of a chain that is in flight, and refuses further ones until
// the chain's procedure is set. It tells where the request stood.
func (c *Client) StopChain(token uint64) Found {
	c.driver.mu.Lock()
	ch := c.chains[token]
	if ch != nil {
		ch.stopped = true
	}
	c.driver.mu.Unlock()
	return c.stop(func(r *request) bool { return ch != nil && r.chain == ch })
}

// setActiveProcedure accepts the one procedure that a program has. The chain begins again
// with it: without output sets, and after StopChain.
func setActiveProcedure(n *connection, x Procedure) error {
	d := n.client.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	ch := n.client.chains[x.Chain]
	if ch == nil || x.Number != 0 {
		return refuse(driverabi.BadArgument, "no chain of this client, or a procedure other than 0",
			"give the token that selector 9 answered with, and procedure 0")
	}
	ch.sets, ch.stopped = nil, false
	return nil
}
