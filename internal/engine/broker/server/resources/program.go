package resources

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Program is one entry of a client's table: a program that it compiled, or an
// instance with weights of its own.
type Program struct {
	Handle  uint32
	In, Out []ane.Layout
	Res     *Resident // of an instance, its base
	Loaded  bool      // by the client
	QoS     uint32
	Depth   int          // requests in flight that it may have
	Flying  atomic.Int32 // evaluations in flight
	Brief   atomic.Int64 // nanoseconds that the last runs took, smoothed

	weights uint64      // of an instance: the driver's number of its weights
	ready   *attachment // while the driver has it prepared for this handle
	args    wire.Arguments
	owed    Needs
	shares  []share
	bound   int // requests
}

// attachment is a program or an instance that the driver has prepared for a client. All of the client's handles of a
// program share one, since the driver knows the program by its resource.
type attachment struct {
	token uint64
	users int // handles that are loaded, or wired
	lane  *Lane
}

// Lane is the driver's chain of one prepared program. Its Turn holds a token from the
// outputs of a step to the end of its run, because the driver takes outputs in their order.
type Lane struct {
	Chain uint64
	Turn  chan struct{}
}

// Token names the prepared program in the driver; 0 for none.
func (p *Program) Token() uint64 {
	if p.ready == nil {
		return 0
	}
	return p.ready.token
}

// Lane makes the lane of a prepared program, if it has none.
func (p *Program) Lane(dev *Device) (*Lane, error) {
	if p.ready.lane == nil {
		x, err := ask[driver.Chained]("chain", dev.Control, driverabi.ControlProgramChainingPrepare,
			driver.Chain{Token: p.ready.token})
		if err != nil {
			return nil, err
		}
		p.ready.lane = &Lane{Chain: x.Token, Turn: make(chan struct{}, 1)}
	}
	return p.ready.lane, nil
}

// Lowered is the quality of service of a program that saves power: the next lower
// class, or the lowest; 0 stands for that of Load. An instance is lowered by the driver.
func (p *Program) Lowered(qos uint32) uint32 {
	if qos == 0 {
		qos = p.QoS
	}
	switch {
	case p.weights != 0:
		return qos
	case p.args.Aggressive:
		return driverabi.QoSBackground
	case !p.args.PowerSaving:
		return qos
	}
	return driverabi.Lower(qos)
}

// Programs are those that one client has compiled, and what the driver has loaded for it.
type Programs struct {
	driver *driver.Driver
	dev    *Device
	owes   *Account
	live   *Residents
	table  table[Program]
	loaded map[*Resident]*attachment
}

// Find finds a program by its handle.
func (t *Programs) Find(op string, handle uint32) (*Program, error) {
	if p := t.table.find(handle); p != nil {
		return p, nil
	}
	return nil, Unknown(op, "program", handle)
}

// Len is how many there are.
func (t *Programs) Len() int { return t.table.len() }

// Add gives a resident program a handle, and fills r, which describes it. The program is released with the handle, or
// here when that cannot be had. A goroutine of a compile calls it.
func (t *Programs) Add(res *Resident, op, name string, r *wire.Compiled) error {
	p := t.entry(res)
	err := t.owes.hold(op, name, p.owed, p.shares)
	if err != nil {
		return errors.Join(err, t.live.Release(res))
	}
	if err = t.add(p, r); err != nil {
		err = errors.Join(err, t.forget(p))
	}
	return err
}

// entry makes an entry with layouts of its own: writing a payload takes them to
// be its own.
func (t *Programs) entry(res *Resident) *Program {
	p := &Program{Res: res, In: slices.Clone(res.Exec.Inputs()), Out: slices.Clone(res.Exec.Outputs()),
		shares: res.shares()}
	for _, list := range [][]ane.Layout{p.In, p.Out} {
		for i := range list {
			list[i].Shape = slices.Clone(list[i].Shape)
		}
	}
	p.owed[Memory] = programBytes + int64(len(p.In)+len(p.Out))*layoutBytes
	return p
}

// add gives a program its handle, in r. It does not enter what it cannot tell the client about.
func (t *Programs) add(p *Program, r *wire.Compiled) error {
	r.In, r.Out, r.Key = p.In, p.Out, p.Res.At.Key.String()
	r.Notes = append(slices.Clone(p.Res.Exec.Notes()), r.Notes...)
	if err := wire.Check(r); err != nil {
		return err
	}
	if !t.table.add(p, MaxPrograms, func(number uint32) { p.Handle, r.Program = number, number }) {
		return Exhausted("compile", "", "programs", MaxPrograms, "release programs")
	}
	return nil
}

// Load makes a program ready to run, with so many requests in flight.
func (t *Programs) Load(q *wire.Load, depth int) (*wire.Loaded, error) {
	p, err := t.Find("load", q.Program)
	if err != nil {
		return nil, err
	}
	if p.Loaded {
		return nil, &ane.Error{Op: "load", Engine: Name, Name: fmt.Sprintf("program %d", q.Program), Err: ane.ErrInUse,
			Detail: "loaded already", Hint: "unload it first"}
	}
	if p.ready == nil { // else it is an instance, or wired
		if err := t.attach(p); err != nil {
			return nil, err
		}
	}
	p.Loaded, p.QoS, p.args, p.Depth = true, q.QoS, q.Args, depth
	return &wire.Loaded{Program: q.Program, QueueDepth: uint32(depth)}, nil
}

// attach has the driver load p, unless it is there for another handle.
func (t *Programs) attach(p *Program) error {
	a := t.loaded[p.Res]
	if a == nil {
		scratch := p.Res.scratch()
		if err := t.owes.Take("load", fmt.Sprintf("program %d", p.Handle), scratch); err != nil {
			return err
		}
		token, err := t.dev.load("load", driverabi.ControlProgramCreate, driver.Create{Resource: p.Res.resource},
			p.Res.resource)
		if err != nil {
			t.owes.Give(scratch)
			return err
		}
		a = &attachment{token: token}
		t.loaded[p.Res] = a
	}
	a.users++
	p.ready = a
	return nil
}

// detach undoes attach, and what made an instance.
func (t *Programs) detach(p *Program) error {
	a := p.ready
	if a == nil {
		return nil
	}
	if a.users == 1 {
		if err := t.dev.unload(a.token); err != nil {
			return err
		}
		if t.loaded[p.Res] == a {
			delete(t.loaded, p.Res)
			t.owes.Give(p.Res.scratch())
		}
	}
	a.users--
	p.ready = nil
	return nil
}

// Unload undoes Load. Requests stay bound. A program that is to be kept wired stays in
// the driver, and an instance until it is released.
func (t *Programs) Unload(q *wire.Unload) (*wire.Empty, error) {
	p, err := t.Find("unload", q.Program)
	if err == nil {
		err = t.stop(p)
	}
	return &wire.Empty{}, err
}

// stop is Unload for a program that is there.
func (t *Programs) stop(p *Program) error {
	flying := p.Flying.Load()
	switch {
	case !p.Loaded:
		return &ane.Error{Op: "unload", Engine: Name, Name: fmt.Sprintf("program %d", p.Handle), Err: ane.ErrNotLoaded,
			Hint: "load it first"}
	case flying > 0:
		return &ane.Error{Op: "unload", Engine: Name, Name: fmt.Sprintf("program %d", p.Handle), Err: ane.ErrBusy,
			Detail: fmt.Sprintf("evaluations in flight: %d", flying), Hint: "wait for them, or cancel them"}
	}
	if !p.args.KeepWired && p.weights == 0 {
		if err := t.detach(p); err != nil {
			return err
		}
	}
	p.Loaded = false
	return nil
}

// Release frees a program that no request uses.
func (t *Programs) Release(q *wire.Release) (*wire.Empty, error) {
	p, err := t.Find("release", q.Program)
	if err != nil {
		return nil, err
	}
	if p.bound > 0 {
		return nil, &ane.Error{Op: "release", Engine: Name, Name: fmt.Sprintf("program %d", q.Program),
			Err:    ane.ErrInUse,
			Detail: fmt.Sprintf("requests: %d", p.bound), Hint: "unbind them first"}
	}
	if p.Loaded {
		if err := t.stop(p); err != nil {
			return nil, err
		}
	}
	if err := t.detach(p); err != nil { // it was wired, or is an instance
		return nil, err
	}
	t.table.remove(q.Program)
	return &wire.Empty{}, t.forget(p)
}

// forget gives back the memory of an entry that the driver has forgotten.
func (t *Programs) forget(p *Program) (err error) {
	t.owes.release(p.owed, p.shares)
	if p.weights != 0 {
		err = t.driver.Remove(p.weights)
	}
	return errors.Join(err, t.live.Release(p.Res))
}

// free forgets everything. The driver has ended its client.
func (t *Programs) free() (err error) {
	for _, p := range t.table.all() {
		err = errors.Join(err, t.forget(p))
	}
	return err
}
