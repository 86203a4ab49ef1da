package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/driverabi"
)

// refuse notes why the answer is ret, and what to do about it.
func (c *Client) refuse(ret driverabi.Return, detail, hint string, cause error) driverabi.Return {
	err := fault("call", ane.Because(ret, cause), detail, hint)
	c.why.Store(&err)
	return ret
}

// dispatched tells why a dispatcher answered ret before a handler ran.
func dispatched(table *driverabi.Dispatcher, selector int, a *driverabi.Args, ret driverabi.Return) (detail, hint string) {
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
	case a.AsyncPort != 0 && !m.Async:
		return m.Handler + " with a port", "give a port to selector 2 alone; this one is done when it answers"
	}
	return fmt.Sprintf("%s with %d scalars and %d bytes in, %d scalars and %d bytes out",
			m.Handler, len(a.ScalarIn), len(a.StructIn), len(a.ScalarOut), len(a.StructOut)),
		fmt.Sprintf("give %d and %d in, %d and %d out", m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut)
}

// Explain tells why the most recent call that did not succeed was refused, for logs
// and messages; it matches the code and what the engine said. nil after a call that
// succeeded. Callers on several goroutines get the answer of whoever was last.
func (c *Client) Explain() error {
	if c != nil {
		if err := c.why.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// resultOf is the code for what went wrong outside of a run: the one in err, if there is
// one, or else the one that says what the engine said.
func resultOf(err error) driverabi.Return {
	var ret driverabi.Return
	switch {
	case errors.As(err, &ret):
		return ret
	case errors.Is(err, ane.ErrDeadline), errors.Is(err, context.Canceled):
		return driverabi.Aborted
	case errors.Is(err, ane.ErrShort), errors.Is(err, ane.ErrStale), errors.Is(err, ane.ErrAligned),
		errors.Is(err, ane.ErrCompile), errors.Is(err, ane.ErrMismatch):
		return driverabi.BadArgument
	case errors.Is(err, ane.ErrExhausted):
		return driverabi.NoResources
	case errors.Is(err, ane.ErrStuck):
		return driverabi.Busy
	}
	return driverabi.DeviceError
}

func counted(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
