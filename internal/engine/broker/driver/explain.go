package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// refuse notes why the answer is ret, and what to do about it.
func (c *Client) refuse(ret driverabi.Return, detail, hint string, cause error) driverabi.Return {
	err := fault("call", ane.Because(ret, cause), detail, hint)
	c.why.Store(&err)
	return ret
}

// dispatched tells why a dispatcher answered ret before a handler ran.
func dispatched(table *driverabi.Dispatcher, selector int, a *driverabi.Args, ret driverabi.Return) (
	detail, hint string) {
	m, known := table.Method(selector)
	switch {
	case !known:
		return fmt.Sprintf("selector %d", selector), "use a selector of this connection's table"
	case a == nil:
		return m.Handler + " without arguments", "give arguments, with nothing in them where the table has 0"
	case ret == driverabi.NotOpen:
		return m.Handler + " of a client that is closing", "attach again"
	case ret == driverabi.Unsupported:
		return m.Handler + " is disabled, as on a release build", "do without it"
	case a.AsyncPort != 0 && !m.Async():
		return m.Handler + " with a port", "give a port to selector 2 alone; this one is done when it answers"
	}
	return fmt.Sprintf("%s with %d scalars and %d bytes in, %d scalars and %d bytes out",
			m.Handler, len(a.ScalarIn), len(a.StructIn), len(a.ScalarOut), len(a.StructOut)),
		fmt.Sprintf("give %d and %d in, %d and %d out", m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut)
}

// Explain tells why the most recent call that did not succeed was refused, for logs
// and messages; it matches the code and what the engine said. nil after a call that
// succeeded. Callers on several goroutines get the answer to the last call.
func (c *Client) Explain() error {
	if c != nil {
		if err := c.why.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// meanings join the driver's codes with the errors of package ane: means is what a code
// says to a caller, from are the errors that become the code. The first row with a match
// counts. The table is never written.
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
	{driverabi.NoMemory, ane.ErrExhausted, nil},
	{driverabi.NoSpace, ane.ErrExhausted, nil},
	{driverabi.Overrun, ane.ErrExhausted, nil},
	{driverabi.Busy, ane.ErrInUse, []error{ane.ErrStuck}},
	{driverabi.NotReady, ane.ErrNotLoaded, []error{ane.ErrNotLoaded}},
	{driverabi.NotPermitted, ane.ErrDenied, nil},
	{driverabi.NotPrivileged, ane.ErrDenied, nil},
	{driverabi.NotOpen, ane.ErrClosed, nil},
	{driverabi.Offline, ane.ErrClosed, nil},
	{driverabi.NotFound, ane.ErrForeign, nil},
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

// resultOf is the code in err, if there is one, or else that of its meaning.
func resultOf(err error) driverabi.Return {
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

func counted(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
