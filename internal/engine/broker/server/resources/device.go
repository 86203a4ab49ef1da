package resources

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Device is a client's pair of connections to the driver, in calls instead of
// selectors. Nothing of a client reaches the engine but through it.
type Device struct {
	*driver.Client
	mu sync.Mutex // one call at a time, so that Explain is about it; not for requests
}

// selectors are those of one of the two connections: driver.Client.Control or Direct.
type selectors = func(selector int, a *driverabi.Args) driverabi.Return

// OpenDevice attaches a client and shakes hands on both connections.
func OpenDevice(d *driver.Driver, info driver.ClientInfo) (*Device, error) {
	c, err := d.Attach(info)
	if err != nil {
		return nil, err
	}
	v := &Device{Client: c}
	for _, call := range []selectors{c.Control, c.Direct} {
		if err := v.handshake(call); err != nil {
			return v, err // the caller closes what there is
		}
	}
	return v, nil
}

func (v *Device) handshake(call selectors) error {
	in := make([]byte, driverabi.DeviceInfoSize)
	in[driverabi.DeviceUsage] = byte(driverabi.UsageStandard)
	driverabi.DeviceCallback.Put(in, driverabi.HandshakeBoardID)
	driverabi.DeviceTimeout.Put(in, driverabi.HandshakeTimeout)
	return v.call("open", call, driverabi.ControlDeviceOpen, &driverabi.Args{
		StructIn: in, StructOut: make([]byte, driverabi.DeviceInfoSize)})
}

// call makes one call and explains its failure.
func (v *Device) call(op string, call selectors, selector int, a *driverabi.Args) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ret := call(selector, a); ret != driverabi.Success {
		return Explain(op, ret, v.Client.Explain())
	}
	return nil
}

// nothing is the message of a selector without one.
type nothing = struct{}

// ask makes one call with a message of package driver, and returns the answer.
func ask[T any](v *Device, op string, call selectors, selector int, message any) (answer T, err error) {
	a := driverabi.Args{StructIn: driver.Bytes(message), StructOut: driver.Bytes(answer)}
	err = v.call(op, call, selector, &a)
	return driver.Parse[T](a.StructOut), err
}

// load creates and prepares a program, which loads it. The token names it from then
// on.
func (v *Device) load(resource uint64) (token uint64, err error) {
	if _, err := ask[nothing](v, "load", v.Control, driverabi.ControlProgramCreate,
		driver.Create{Resource: resource}); err != nil {
		return 0, err
	}
	return v.prepare(resource)
}

// prepare makes what was created ready, or destroys it.
func (v *Device) prepare(resource uint64) (token uint64, err error) {
	p, err := ask[driver.Prepare](v, "load", v.Control, driverabi.ControlProgramPrepare,
		driver.Prepare{Resource: resource})
	if err != nil {
		return 0, errors.Join(err, v.destroy(driver.Destroy{Resource: resource}))
	}
	return p.Token, nil
}

// instance creates and prepares a program of a base with weights of its own.
func (v *Device) instance(i driver.Instance) (token uint64, err error) {
	if _, err := ask[nothing](v, "instance", v.Control, driverabi.ControlProgramCreateInstance, i); err != nil {
		return 0, err
	}
	return v.prepare(i.Resource)
}

// unload unprepares and destroys.
func (v *Device) unload(token uint64) error {
	if _, err := ask[nothing](v, "unload", v.Control, driverabi.ControlProgramUnprepare,
		driver.Unprepare{Token: token}); err != nil {
		return err
	}
	return v.destroy(driver.Destroy{Token: token})
}

func (v *Device) destroy(d driver.Destroy) error {
	_, err := ask[nothing](v, "unload", v.Control, driverabi.ControlProgramDestroy, d)
	return err
}

// chain makes the chain of a prepared program, and returns its token.
func (v *Device) chain(program uint64) (token uint64, err error) {
	x, err := ask[driver.Chained](v, "chain", v.Control, driverabi.ControlProgramChainingPrepare,
		driver.Chain{Token: program})
	return x.Token, err
}

// Begin sets the procedure of a chain, which begins again with it.
func (v *Device) Begin(chain uint64) error {
	_, err := ask[nothing](v, "chain", v.Direct, driverabi.DirectSetActiveProcedure,
		driver.Procedure{Chain: chain})
	return err
}

// Outputs names the surfaces, at most driver.MaxOutputs, that the next request of a chain
// writes.
func (v *Device) Outputs(chain uint64, surfaces []uint32) error {
	_, err := ask[nothing](v, "chain", v.Direct, driverabi.DirectOutputSetEnqueue,
		driver.NewOutputSet(chain, surfaces))
	return err
}

// Inputs runs the next request of a chain, and returns when the outputs are written.
func (v *Device) Inputs(chain uint64, request []byte) error {
	a := driverabi.Args{StructIn: request}
	if ret := v.Direct(driverabi.DirectInputsReady, &a); ret != driverabi.Success {
		return Explain("evaluate", ret, v.ExplainChain(chain))
	}
	return nil
}

// mapSurface gives a surface its range of device addresses.
func (v *Device) mapSurface(surface uint32) error {
	return v.call("bind", v.Direct, driverabi.DirectMemoryMap, &driverabi.Args{
		ScalarIn: make([]uint64, 1), StructIn: driver.Memory(surface), ScalarOut: make([]uint64, 1)})
}

// unmapSurface takes it back.
func (v *Device) unmapSurface(surface uint32) error {
	return v.call("drop", v.Direct, driverabi.DirectMemoryUnmap,
		&driverabi.Args{StructIn: driver.Memory(surface)})
}

// Explain is the error of what the driver answered with ret. It matches the code, what
// the driver or the engine said, and what they mean to a selectors of package ane.
func Explain(op string, ret driverabi.Return, why error) error {
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
func (v *Device) status() (driver.Status, error) {
	return ask[driver.Status](v, "status", v.Control, driverabi.ControlGetStatus, nothing{})
}
