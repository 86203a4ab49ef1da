package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// refuse is the answer of a call that is not done: its code, why, and what to do.
func refuse(ret driverabi.Return, detail, hint string) error { return fault("call", ret, detail, hint) }

// coded is err, which has a code from now on.
func coded(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[driverabi.Return](err); ok {
		return err
	}
	return fault("call", ane.Because(Code(err), err), "", "")
}

// call makes a call, and tells why where the dispatcher refused it.
func call(table *driverabi.Dispatcher, n *connection, selector int, a *driverabi.Args) error {
	err := table.Call(n, selector, a)
	ret, bare := err.(driverabi.Return)
	if !bare {
		return err
	}
	m, known := table.Method(selector)
	switch {
	case !known || a == nil:
		return refuse(ret, fmt.Sprintf("selector %d %s", selector, m.Handler),
			"use a selector of this connection's table, and give arguments")
	case ret == driverabi.Unsupported:
		return refuse(ret, m.Handler+" is disabled, as on a release build", "do without it")
	}
	return refuse(ret, fmt.Sprintf("%s with %d scalars and %d bytes in, %d scalars and %d bytes out, port %#x",
		m.Handler, len(a.ScalarIn), len(a.StructIn), len(a.ScalarOut), len(a.StructOut), a.AsyncPort),
		fmt.Sprintf("give %d and %d in, %d and %d out, and a port to selector 2 alone",
			m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut))
}

// meanings map the driver's codes to the errors of package ane. means is the error that a caller gets for a code; from
// are the errors that become the code. The first row with a match counts. The table is never written.
var meanings = []struct {
	code  driverabi.Return
	means error
	from  []error
}{
	{driverabi.Aborted, ane.ErrDeadline, []error{context.Canceled, ane.ErrDeadline}},
	{driverabi.Timeout, ane.ErrDeadline, nil},
	{driverabi.BadArgument, ane.ErrEngine,
		[]error{ane.ErrShort, ane.ErrStale, ane.ErrAligned, ane.ErrCompile, ane.ErrMismatch}},
	{driverabi.NoResources, ane.ErrExhausted, []error{ane.ErrExhausted}},
	{driverabi.NoSpace, ane.ErrExhausted, nil},
	{driverabi.Busy, ane.ErrInUse, []error{ane.ErrStuck}},
	{driverabi.NotReady, ane.ErrNotLoaded, []error{ane.ErrNotLoaded}},
	{driverabi.NotPermitted, ane.ErrDenied, nil},
	{driverabi.NotPrivileged, ane.ErrDenied, nil},
	{driverabi.NotOpen, ane.ErrClosed, nil},
}

// Meaning is what a code says to a caller of package ane.
func Meaning(code driverabi.Return) error {
	for i := range meanings {
		if meanings[i].code == code {
			return meanings[i].means
		}
	}
	return ane.ErrEngine
}

// Code is the code in err, if there is one, or else that of its meaning; Success for nil.
func Code(err error) driverabi.Return {
	if err == nil {
		return driverabi.Success
	}
	if code, ok := errors.AsType[driverabi.Return](err); ok {
		return code
	}
	for i := range meanings {
		for _, from := range meanings[i].from {
			if errors.Is(err, from) {
				return meanings[i].code
			}
		}
	}
	return driverabi.DeviceError
}
