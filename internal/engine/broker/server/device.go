package server

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// device is a client's pair of connections to the driver, in calls instead of
// selectors. Nothing of a client reaches the engine but through it.
type device struct {
	client *driver.Client
	mu     sync.Mutex // one call at a time, so that Explain is about it; not for requests
}

// openDevice attaches a client and shakes hands on both connections.
func openDevice(d *driver.Driver, info driver.ClientInfo) (*device, error) {
	c, err := d.Attach(info)
	if err != nil {
		return nil, err
	}
	v := &device{client: c}
	for _, call := range []func(int, *driverabi.Args) driverabi.Return{c.Control, c.Direct} {
		if err := v.handshake(call); err != nil {
			return v, err // the caller closes what there is
		}
	}
	return v, nil
}

func (v *device) handshake(call func(int, *driverabi.Args) driverabi.Return) error {
	info := driverabi.DeviceInfo{Callback: driverabi.HandshakeBoardID, Timeout: driverabi.HandshakeTimeout}
	info.SetUsage(driverabi.UsageStandard)
	return v.call("open", call, driverabi.ControlDeviceOpen, &driverabi.Args{
		StructIn: encode(&info), StructOut: make([]byte, driverabi.DeviceInfoSize)})
}

// call makes one call and explains its failure.
func (v *device) call(op string, call func(int, *driverabi.Args) driverabi.Return, selector int,
	a *driverabi.Args) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ret := call(selector, a); ret != driverabi.Success {
		return explain(op, ret, v.client.Explain())
	}
	return nil
}

// encode returns the bytes of a structure, which has room for itself.
func encode(s driverabi.Structure) []byte {
	b := make([]byte, s.Size())
	_ = s.Encode(b) // fails for another length alone
	return b
}

// load creates and prepares a program, which loads it. The token names it from then
// on.
func (v *device) load(resource uint64) (token uint64, err error) {
	var s driverabi.ProgramCreate
	driver.Create{Resource: resource}.Encode(&s)
	if err := v.call("load", v.client.Control, driverabi.ControlProgramCreate,
		&driverabi.Args{StructIn: encode(&s)}); err != nil {
		return 0, err
	}
	return v.prepare(resource)
}

// prepare makes what was created ready, or destroys it.
func (v *device) prepare(resource uint64) (token uint64, err error) {
	var s driverabi.ProgramPrepare
	driver.Prepare{Resource: resource}.Encode(&s)
	a := driverabi.Args{StructIn: encode(&s), StructOut: make([]byte, driverabi.ProgramPrepareSize)}
	if err := v.call("load", v.client.Control, driverabi.ControlProgramPrepare, &a); err != nil {
		return 0, errors.Join(err, v.destroy(driver.Destroy{Resource: resource}))
	}
	if err := s.Decode(a.StructOut); err != nil {
		return 0, err
	}
	var p driver.Prepare
	p.Decode(&s)
	return p.Token, nil
}

// instance creates and prepares a program of a base with weights of its own.
func (v *device) instance(i driver.Instance) (token uint64, err error) {
	var s driverabi.CreateInstance
	i.Encode(&s)
	if err := v.call("instance", v.client.Control, driverabi.ControlProgramCreateInstance,
		&driverabi.Args{StructIn: encode(&s)}); err != nil {
		return 0, err
	}
	return v.prepare(i.Resource)
}

// unload unprepares and destroys.
func (v *device) unload(token uint64) error {
	var s driverabi.ProgramUnprepare
	driver.Unprepare{Token: token}.Encode(&s)
	if err := v.call("unload", v.client.Control, driverabi.ControlProgramUnprepare,
		&driverabi.Args{StructIn: encode(&s)}); err != nil {
		return err
	}
	return v.destroy(driver.Destroy{Token: token})
}

func (v *device) destroy(d driver.Destroy) error {
	var s driverabi.ProgramDestroy
	d.Encode(&s)
	return v.call("unload", v.client.Control, driverabi.ControlProgramDestroy, &driverabi.Args{StructIn: encode(&s)})
}

// chain makes the chain of a prepared program, and returns its token.
func (v *device) chain(program uint64) (token uint64, err error) {
	var s driverabi.ChainingPrepare
	driver.Chain{Token: program}.Encode(&s)
	a := driverabi.Args{StructIn: encode(&s), StructOut: make([]byte, driverabi.ChainingPrepareReplySize)}
	if err := v.call("chain", v.client.Control, driverabi.ControlProgramChainingPrepare, &a); err != nil {
		return 0, err
	}
	var reply driverabi.ChainingPrepareReply
	if err := reply.Decode(a.StructOut); err != nil {
		return 0, err
	}
	var x driver.Chain
	x.Decode(&reply)
	return x.Token, nil
}

// begin sets the procedure of a chain, which begins again with it.
func (v *device) begin(chain uint64) error {
	var s driverabi.SetActiveProcedure
	driver.Procedure{Chain: chain}.Encode(&s)
	return v.call("chain", v.client.Direct, driverabi.DirectSetActiveProcedure, &driverabi.Args{StructIn: encode(&s)})
}

// outputs names the surfaces that the next request of a chain writes.
func (v *device) outputs(chain uint64, surfaces []uint32) error {
	var s driverabi.OutputSetEnqueue
	if err := (driver.OutputSet{Chain: chain, Surfaces: surfaces}).Encode(&s); err != nil {
		return err
	}
	return v.call("chain", v.client.Direct, driverabi.DirectOutputSetEnqueue, &driverabi.Args{StructIn: encode(&s)})
}

// inputs runs the next request of a chain, and returns when the outputs are written.
func (v *device) inputs(chain uint64, r *driverabi.SendRequest) error {
	var s driverabi.InputsReady
	if err := driver.PutInputsReady(&s, r); err != nil {
		return err
	}
	a := driverabi.Args{StructIn: s.Raw[:]}
	if ret := v.client.Direct(driverabi.DirectInputsReady, &a); ret != driverabi.Success {
		return explain("evaluate", ret, v.client.ExplainChain(chain))
	}
	return nil
}

// mapSurface gives a surface its range of device addresses.
func (v *device) mapSurface(surface uint32) error {
	var s driverabi.MemoryMap
	if err := (driver.Memory{Surfaces: []uint32{surface}}).Encode(&s); err != nil {
		return err
	}
	return v.call("bind", v.client.Direct, driverabi.DirectMemoryMap, &driverabi.Args{
		ScalarIn: make([]uint64, 1), StructIn: encode(&s), ScalarOut: make([]uint64, 1)})
}

// unmapSurface takes it back.
func (v *device) unmapSurface(surface uint32) error {
	var s driverabi.MemoryMap
	if err := (driver.Memory{Surfaces: []uint32{surface}}).Encode(&s); err != nil {
		return err
	}
	return v.call("drop", v.client.Direct, driverabi.DirectMemoryUnmap, &driverabi.Args{StructIn: encode(&s)})
}

// explain is the error of what the driver answered with ret. It matches the code, what
// the driver or the engine said, and what they mean to a caller of package ane.
func explain(op string, ret driverabi.Return, why error) error {
	e := &ane.Error{Op: op, Engine: Name, Err: why}
	var known *ane.Error
	if errors.As(why, &known) {
		*e = *known
		e.Op, e.Engine = op, Name
	}
	if e.Err == nil {
		e.Err = ret
	} else if !errors.Is(e.Err, ret) {
		e.Err = ane.Because(e.Err, ret)
	}
	var inner *ane.Error
	if meaning := driver.Meaning(ret); !errors.Is(e.Err, meaning) && !errors.As(e.Err, &inner) {
		e.Err = ane.Because(meaning, e.Err)
	}
	return e
}

// status reads the driver's counters.
func (v *device) status() (driver.Status, error) {
	var s driverabi.Status
	a := driverabi.Args{StructOut: make([]byte, s.Size())}
	if err := v.call("status", v.client.Control, driverabi.ControlGetStatus, &a); err != nil {
		return driver.Status{}, err
	}
	var x driver.Status
	if err := s.Decode(a.StructOut); err != nil {
		return x, err
	}
	x.Decode(&s)
	return x, nil
}
