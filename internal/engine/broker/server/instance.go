package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// adapter is the weights of an instance, as the driver knows them.
type adapter struct {
	resource uint64
}

func (a *adapter) close(d *driver.Driver) error { return d.RemoveProgram(a.resource) }

// instance makes an instance of a loaded program.
func (c *compiles) instance(f *wire.Frame, fds wire.Descriptors) error {
	var q wire.Instance
	if err := wire.Parse(f.Payload, &q); err != nil {
		return err
	}
	if err := c.grant.AllowRestricted("instance", driverabi.EntitlementAdapterWeight); err != nil {
		return err
	}
	if err := c.grant.allowArguments("instance", q.Args); err != nil {
		return err
	}
	p, err := c.programs.find("instance", q.Program)
	if err != nil {
		return err
	}
	if p.inst != nil || !p.loaded {
		return &ane.Error{Op: "instance", Engine: Name, Name: fmt.Sprintf("program %d", q.Program),
			Err:    ane.ErrNotLoaded,
			Detail: "the base has to be a compiled program that is loaded", Hint: "load the base first"}
	}
	of, ok := baseOf(p.res.exec)
	if !ok {
		_, err := c.server.instance(c.ctx, p.res.exec, nil)
		return err
	}
	up, err := receiveWeights(&q, fds, c.owes)
	if err != nil {
		return err
	}
	if err := (overlay{base: &of.src}).check(&up.source); err != nil {
		return errors.Join(err, up.close())
	}
	if err := c.live.hold(p.res); err != nil { // the base may be released at the same time
		return errors.Join(err, up.close())
	}
	if err := up.wait(f, ""); err != nil {
		return errors.Join(err, c.live.release(p.res))
	}
	token, base := p.token, p.res
	unless := func(err error) error {
		if err != nil {
			err = errors.Join(err, c.live.release(base))
		}
		return err
	}
	return unless(c.later(f, up, func() error {
		return unless(c.inTurn(func() error { return c.instantiate(f, &q, up, base, token) }))
	}))
}

// instantiate makes the instance and answers. The instance holds its base from then
// on.
func (c *compiles) instantiate(f *wire.Frame, q *wire.Instance, up *upload, of *resident,
	baseToken uint64) (err error) {
	entry := newProgram(of)
	held, loaded := footprint(of) // what the engine folds of its own weights is as large as that of the base's
	if up.lends() {
		held = held.plus(up.files.needs())
	}
	held.memory += int64(up.weightBytes())
	entry.owed, entry.shares = held.plus(loaded).plus(entry.needs()), of.shares()
	if err := c.owes.hold("instance", "", entry.owed, entry.shares); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.owes.release(entry.owed, entry.shares)
		}
	}()
	if err := c.turns.do(c.ctx, c.number, shortCompiles, c.limit(), "instance", func(ctx context.Context) error {
		return up.claim(ctx, "instance", "")
	}); err != nil {
		return err
	}
	if err := up.mapFiles("instance", ""); err != nil {
		return err
	}
	resource, err := c.driver.AddWeights(up.constants())
	if err != nil {
		return err
	}
	a := &adapter{resource}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(c.driver))
		}
	}()
	i := driver.Instance{Base: baseToken, Resource: resource, Depth: q.Args.QueueDepth}
	if q.Args.PowerSaving {
		i.Flags |= driver.PowerSaving
	}
	if q.Args.Aggressive {
		i.Flags |= driver.MoreAggressive
	}
	if q.Args.KeepWired {
		i.Flags |= driver.KeepWired
	}
	var token uint64
	// Reading weights takes time as compiling does, so it has its turn with compiles.
	if err := c.turns.do(c.ctx, c.number, shortCompiles, c.limit(), "instance", func(context.Context) (err error) {
		token, err = c.programs.dev.instance(i)
		return err
	}); err != nil {
		return err
	}
	c.counts.instances.Add(1)
	entry.inst, entry.token, entry.args = a, token, q.Args
	reply := &wire.Compiled{Key: of.at.key.String(), Notes: of.exec.Notes()}
	if err := c.programs.add(entry, reply); err != nil {
		return errors.Join(err, c.programs.dev.unload(token))
	}
	return c.reply(f, reply)
}
