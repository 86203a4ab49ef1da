package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// told is the error of a refusal, which names the place and the fix.
func told(t *testing.T, err error, want driverabi.Return) {
	t.Helper()
	require.ErrorIs(t, err, want)
	for {
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		if e.Hint != "" { // the outermost or a cause
			require.NotEmpty(t, e.Op)
			return
		}
		err = e.Err
	}
}

// every call of both connections that can be made, with the connection of each.
func everyCall(c *Client, f func(call func(int, *driverabi.Args) error, m driverabi.Method)) {
	for _, m := range driverabi.ControlMethods() {
		f(c.Control, m)
	}
	for _, m := range driverabi.DirectMethods() {
		f(c.Direct, m)
	}
}

// TestRefusalsTellTheFix makes wrong calls of every selector: with all zeroes, before
// the handshake, with sizes off by one, with a port, and of a client that is gone.
func TestRefusalsTellTheFix(t *testing.T) {
	r := newRig(t)
	c := r.attach(privileged)
	check := func(call func(int, *driverabi.Args) error, m driverabi.Method, a *driverabi.Args) {
		if ret := call(m.Selector, a); ret != nil {
			told(t, ret, Code(ret))
		}
	}
	zeroes := func(call func(int, *driverabi.Args) error, m driverabi.Method) {
		if m.Selector != 1 {
			check(call, m, fitting(m))
		}
	}
	everyCall(c, zeroes)
	for _, call := range []func(int, *driverabi.Args) error{c.Control, c.Direct} {
		_, ret := handshake(call, 1)
		require.NoError(t, ret)
		_, ret = handshake(call, 1)
		told(t, ret, bad)
	}
	everyCall(c, zeroes)
	everyCall(c, func(call func(int, *driverabi.Args) error, m driverabi.Method) {
		for _, edit := range []func(*driverabi.Args){
			func(a *driverabi.Args) { a.ScalarIn = append(a.ScalarIn, 0) },
			func(a *driverabi.Args) { a.StructIn = append(a.StructIn, 0) },
			func(a *driverabi.Args) { a.ScalarOut = append(a.ScalarOut, 0) },
			func(a *driverabi.Args) { a.StructOut = append(a.StructOut, 0) },
		} {
			a := fitting(m)
			edit(a)
			ret := call(m.Selector, a)
			told(t, ret, bad)
			require.ErrorContains(t, ret, m.Handler)
		}
		told(t, call(m.Selector, nil), bad)
		if a := fitting(m); !m.Async() {
			a.AsyncPort = 1
			told(t, call(m.Selector, a), bad)
		}
	})
	told(t, c.Control(17, &driverabi.Args{}), bad)
	require.NoError(t, c.Close(context.Background()))
	everyCall(c, func(call func(int, *driverabi.Args) error,
		m driverabi.Method) {
		check(call, m, fitting(m))
	})
}

// TestRequestRefusalsTellTheFix does it for what is wrong with a request.
func TestRequestRefusalsTellTheFix(t *testing.T) {
	r := newRig(t).bounded(1, totalDepth)
	begun, let := r.hold()
	info, done := woken()
	info.RealTime = false
	c := r.opened(info)
	token, surfaces := r.prepared(c, r.program()), r.pair(c)
	unmapped := r.surface(1)
	good := ask{token: token, sequence: 1, port: 1, surfaces: surfaces}
	wrong := func(edit func(*ask)) {
		x := good
		edit(&x)
		_, ret := x.send(c)
		told(t, ret, Code(ret))
	}
	wrong(func(x *ask) { x.token++ })
	wrong(func(x *ask) { x.sequence--; x.sequence-- })
	wrong(func(x *ask) { x.doorbell = 32 })
	wrong(func(x *ask) { x.submit.Flags = 4 })
	wrong(func(x *ask) { x.submit.Timeout = 1 << 63 })
	wrong(func(x *ask) { x.surfaces = nil })
	wrong(func(x *ask) { x.surfaces = []uint32{surfaces[0], surfaces[0]} })
	wrong(func(x *ask) { x.surfaces = []uint32{surfaces[0], unmapped} })
	for _, edit := range []func([]byte){
		func(s []byte) { driverabi.RequestCategory.Put(s, 0) },
		func(s []byte) { driverabi.RequestPriority.Put(s, 0) },
		func(s []byte) { class(s, 0, 2) },
	} {
		wrong(func(x *ask) { x.edit = edit })
	}
	_, ret := good.send(c)
	require.NoError(t, ret)
	within(t, begun)
	wrong(func(x *ask) { x.sequence++ }) // full
	told(t, unprepare1(c, token), driverabi.Busy)
	told(t, unmap1(c, surfaces[0]), driverabi.Busy)
	let()
	within(t, done)
	require.NoError(t, unprepare1(c, token))
	wrong(func(x *ask) { x.sequence++ })
}
