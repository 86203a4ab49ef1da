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

// ask makes one call with a message of package driver, and returns the answer.
func ask[T any](op string, call selectors, selector int, message any) (answer T, err error) {
	a := driverabi.Args{StructIn: driver.Bytes(message), StructOut: driver.Bytes(answer)}
	err = Explain(op, call(selector, &a))
	return driver.Parse[T](a.StructOut), err
}

// tell is ask for a selector without an answer.
func tell(op string, call selectors, selector int, message any) error {
	_, err := ask[struct{}](op, call, selector, message)
	return err
}

// load creates a program, or an instance of one, and prepares it, which loads it. The token names it from then on.
func (v *Device) load(op string, selector int, message any, resource uint64) (token uint64, err error) {
	if err := tell(op, v.Control, selector, message); err != nil {
		return 0, err
	}
	p, err := ask[driver.Prepare](op, v.Control, driverabi.ControlProgramPrepare, driver.Prepare{Resource: resource})
	if err != nil {
		err = errors.Join(err,
			tell(op, v.Control, driverabi.ControlProgramDestroy, driver.Destroy{Resource: resource}))
	}
	return p.Token, err
}

// unload unprepares and destroys.
func (v *Device) unload(token uint64) error {
	if err := tell("unload", v.Control, driverabi.ControlProgramUnprepare, driver.Unprepare{Token: token}); err != nil {
		return err
	}
	return tell("unload", v.Control, driverabi.ControlProgramDestroy, driver.Destroy{Token: token})
}

// Begin sets the procedure of a chain, which begins again with it.
func (v *Device) Begin(chain uint64) error {
	return tell("chain", v.Direct, driverabi.DirectSetActiveProcedure, driver.Procedure{Chain: chain})
}

// Outputs names the surfaces, at most driver.MaxOutputs, that the next request of a chain
// writes.
func (v *Device) Outputs(chain uint64, surfaces []uint32) error {
	return tell("chain", v.Direct, driverabi.DirectOutputSetEnqueue, driver.NewOutputSet(chain, surfaces))
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
	return tell("drop", v.Direct, driverabi.DirectMemoryUnmap, driver.Memory{Surface: surface})
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
