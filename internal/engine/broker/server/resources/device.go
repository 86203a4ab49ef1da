package resources

import (
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Device is a client's pair of connections to the driver, in calls instead of
// selectors. Nothing of a client reaches the engine but through it.
type Device struct{ *driver.Client }

// selectors are those of one of the two connections: driver.Client.Control or Direct.
type selectors = func(selector int, a *driverabi.Args) error

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
	return Explain("open", call(driverabi.ControlDeviceOpen, &driverabi.Args{
		StructIn: in, StructOut: make([]byte, driverabi.DeviceInfoSize)}))
}

// nothing is the message of a selector without one.
type nothing = struct{}

// ask makes one call with a message of package driver, and returns the answer.
func ask[T any](op string, call selectors, selector int, message any) (answer T, err error) {
	a := driverabi.Args{StructIn: driver.Bytes(message), StructOut: driver.Bytes(answer)}
	err = Explain(op, call(selector, &a))
	return driver.Parse[T](a.StructOut), err
}

// load creates and prepares a program, which loads it. The token names it from then
// on.
func (v *Device) load(resource uint64) (token uint64, err error) {
	if _, err := ask[nothing]("load", v.Control, driverabi.ControlProgramCreate,
		driver.Create{Resource: resource}); err != nil {
		return 0, err
	}
	return v.prepare(resource)
}

// prepare makes what was created ready, or destroys it.
func (v *Device) prepare(resource uint64) (token uint64, err error) {
	p, err := ask[driver.Prepare]("load", v.Control, driverabi.ControlProgramPrepare,
		driver.Prepare{Resource: resource})
	if err != nil {
		return 0, errors.Join(err, v.destroy(driver.Destroy{Resource: resource}))
	}
	return p.Token, nil
}

// instance creates and prepares a program of a base with weights of its own.
func (v *Device) instance(i driver.Instance) (token uint64, err error) {
	if _, err := ask[nothing]("instance", v.Control, driverabi.ControlProgramCreateInstance, i); err != nil {
		return 0, err
	}
	return v.prepare(i.Resource)
}

// unload unprepares and destroys.
func (v *Device) unload(token uint64) error {
	if _, err := ask[nothing]("unload", v.Control, driverabi.ControlProgramUnprepare,
		driver.Unprepare{Token: token}); err != nil {
		return err
	}
	return v.destroy(driver.Destroy{Token: token})
}

func (v *Device) destroy(d driver.Destroy) error {
	_, err := ask[nothing]("unload", v.Control, driverabi.ControlProgramDestroy, d)
	return err
}

// chain makes the chain of a prepared program, and returns its token.
func (v *Device) chain(program uint64) (token uint64, err error) {
	x, err := ask[driver.Chained]("chain", v.Control, driverabi.ControlProgramChainingPrepare,
		driver.Chain{Token: program})
	return x.Token, err
}

// Begin sets the procedure of a chain, which begins again with it.
func (v *Device) Begin(chain uint64) error {
	_, err := ask[nothing]("chain", v.Direct, driverabi.DirectSetActiveProcedure,
		driver.Procedure{Chain: chain})
	return err
}

// Outputs names the surfaces, at most driver.MaxOutputs, that the next request of a chain
// writes.
func (v *Device) Outputs(chain uint64, surfaces []uint32) error {
	_, err := ask[nothing]("chain", v.Direct, driverabi.DirectOutputSetEnqueue,
		driver.NewOutputSet(chain, surfaces))
	return err
}

// Inputs runs the next request of a chain, and returns when the outputs are written.
func (v *Device) Inputs(request []byte) error {
	return Explain("evaluate", v.Direct(driverabi.DirectInputsReady, &driverabi.Args{StructIn: request}))
}

// mapSurface gives a surface its range of device addresses.
func (v *Device) mapSurface(surface uint32) error {
	return Explain("bind", v.Direct(driverabi.DirectMemoryMap, &driverabi.Args{ScalarIn: make([]uint64, 1),
		StructIn: driver.Bytes(driver.Memory{Surface: surface}), ScalarOut: make([]uint64, 1)}))
}

// unmapSurface takes it back.
func (v *Device) unmapSurface(surface uint32) error {
	_, err := ask[nothing]("drop", v.Direct, driverabi.DirectMemoryUnmap, driver.Memory{Surface: surface})
	return err
}

// Explain is the error of a call to the driver, nil for none. It matches the code, what
// the driver or the engine said, and what they mean to a caller of package ane.
func Explain(op string, why error) error {
	if why == nil {
		return nil
	}
	e := &ane.Error{Op: op, Engine: Name, Err: why}
	var known, inner *ane.Error
	if errors.As(why, &known) {
		*e = *known
		e.Op, e.Engine = op, Name
	}
	if meaning := driver.Meaning(driver.Code(why)); !errors.Is(e.Err, meaning) && !errors.As(e.Err, &inner) {
		e.Err = ane.Because(meaning, e.Err)
	}
	return e
}

// status reads the driver's counters.
func (v *Device) status() (driver.Status, error) {
	return ask[driver.Status]("status", v.Control, driverabi.ControlGetStatus, nothing{})
}
