package resources

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// base is a program that an instance is to be made of. Its upload holds it.
type base struct {
	res   *Resident
	live  *Residents
	token uint64
	args  wire.Arguments
}

// ReceiveInstance keeps the memfds with the weights of an instance, for Instance, and charges for a frame of so many
// bytes.
func (t *Programs) ReceiveInstance(q *wire.Instance, frame int, fds wire.Descriptors) (*Upload, error) {
	p, err := t.Find("instance", q.Program)
	if err != nil {
		return nil, err
	}
	if p.weights != 0 || !p.Loaded {
		return nil, &ane.Error{Op: "instance", Engine: Name, Name: fmt.Sprintf("program %d", q.Program),
			Err:    ane.ErrNotLoaded,
			Detail: "the base has to be a compiled program that is loaded", Hint: "load the base first"}
	}
	for _, w := range q.Weights {
		if !slices.Contains(p.Res.weights, w.Name) {
			return nil, &ane.Error{Op: "instance", Engine: Name, Name: w.Name, Err: ane.ErrName,
				Detail: fmt.Sprintf("the base has %d weight files and not this one", len(p.Res.weights)),
				Hint:   "send the files that differ, by the base's names"}
		}
	}
	up, err := Receive(t.owes, "instance", "", frame, fds, &wire.Compile{Weights: q.Weights})
	if err == nil {
		t.live.hold(p.Res)
		up.base = &base{p.Res, t.live, p.Token(), q.Args}
	}
	return up, err
}

// release forgets a base of which no instance was made.
func (b *base) release() error {
	if b == nil {
		return nil
	}
	return b.live.Release(b.res)
}

// Instance makes an instance, and gives it a handle. It runs in a turn of compiles: reading weights takes as long.
func (t *Programs) Instance(ctx context.Context, up *Upload) (*wire.Compiled, error) {
	b := up.base
	p, r := t.entry(b.res), &wire.Compiled{}
	p.args = b.args
	held, _, _ := b.res.Exec.Footprint() // what the engine folds of its own weights is as large as that of the base's
	p.owed = p.owed.plus(b.res.scratch()).plus(Needs{Memory: held + int64(up.weightBytes())})
	if up.lends() {
		p.owed = p.owed.plus(up.files.needs())
	}
	if err := t.owes.hold("instance", "", p.owed, p.shares); err != nil {
		return nil, err
	}
	up.base = nil // p has it
	err := t.prepare(ctx, p, b, up)
	if err == nil {
		if err = t.add(p, r); err != nil {
			err = errors.Join(err, t.dev.unload(p.Token()))
		}
	}
	if err != nil {
		err = errors.Join(err, t.forget(p))
	}
	return r, err
}

// prepare has the driver make and prepare an instance.
func (t *Programs) prepare(ctx context.Context, p *Program, b *base, up *Upload) (err error) {
	if err = up.Open(); err != nil {
		return err
	}
	if p.weights, err = t.driver.AddWeights(up.Weights()); err != nil {
		return err
	}
	i := driver.Instance{Base: b.token, Resource: p.weights, Depth: b.args.QueueDepth}
	for flag, asked := range map[uint32]bool{driver.PowerSaving: b.args.PowerSaving,
		driver.MoreAggressive: b.args.Aggressive, driver.KeepWired: b.args.KeepWired} {
		if asked {
			i.Flags |= flag
		}
	}
	token, err := t.dev.load("instance", driverabi.ControlProgramCreateInstance, i, p.weights)
	p.ready = &attachment{token: token, users: 1}
	return err
}
