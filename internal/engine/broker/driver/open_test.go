package driver

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestAttachNeedsUserAccess(t *testing.T) {
	r := newRig(t)
	_, err := r.driver.Attach(ClientInfo{Identity: "one"})
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, "com.apple.ane.iokit-user-access")
	require.NoError(t, r.driver.Close(context.Background()))
	_, err = r.driver.Attach(privileged)
	require.ErrorIs(t, err, ane.ErrClosed)
}

func TestHandshake(t *testing.T) {
	r := newRig(t)
	c := r.attach(privileged)
	for _, tc := range []struct {
		usage driverabi.UsageType
		want  driverabi.Return
	}{{0, bad}, {2, 24}, {3, bad}, {255, bad}} {
		_, ret := handshake(c.Control, tc.usage)
		require.Equal(t, tc.want, Code(ret), "usage %d", tc.usage)
		require.Error(t, ret)
	}
	control, ret := handshake(c.Control, 1)
	require.NoError(t, ret)
	require.NoError(t, ret)
	session := driverabi.DeviceToken.Get(control)
	require.NotZero(t, session)
	require.NotEqual(t, driverabi.HandshakeCPUSubtype, driverabi.DeviceCPUSubtype.Get(control), "no chip's value")
	want := bytes.Repeat([]byte{99}, len(control))
	driverabi.DeviceToken.Put(want, session)
	driverabi.DeviceVersion.Put(want, engineVersion)
	driverabi.DeviceRevision.Put(want, engineRevision)
	driverabi.DeviceEngines.Put(want, 1)
	driverabi.DeviceCPUSubtype.Put(want, 0)
	require.Equal(t, want, control, "the header and unknown bytes are echoed, the descriptor half filled")

	_, ret = handshake(c.Control, 1)
	require.ErrorIs(t, ret, bad, "open already")
	require.ErrorIs(t, c.Direct(1, &driverabi.Args{}), driverabi.NotOpen, "the direct connection is another one")
	direct, ret := handshake(c.Direct, 1)
	require.NoError(t, ret)
	require.NotEqual(t, session, driverabi.DeviceToken.Get(direct))
}

// fitting returns arguments of the exact sizes of a method.
func fitting(m driverabi.Method) *driverabi.Args {
	return &driverabi.Args{ScalarIn: make([]uint64, m.ScalarIn), StructIn: make([]byte, m.StructIn),
		ScalarOut: make([]uint64, m.ScalarOut), StructOut: make([]byte, m.StructOut)}
}

func TestClosedCode(t *testing.T) {
	r := newRig(t)
	c := r.attach(privileged)
	check := func(when string) {
		for _, m := range driverabi.ControlMethods()[1:11] {
			require.ErrorIs(t, c.Control(m.Selector, fitting(m)), driverabi.NotOpen, "%s %s", m.Handler, when)
		}
		for _, m := range driverabi.DirectMethods()[1:] {
			require.ErrorIs(t, c.Direct(m.Selector, fitting(m)), driverabi.NotOpen, "%s %s", m.Handler, when)
		}
	}
	check("before open")
	for _, call := range []func(int, *driverabi.Args) error{c.Control, c.Direct} {
		_, ret := handshake(call, 1)
		require.NoError(t, ret)
		require.NoError(t, call(1, &driverabi.Args{}))
	}
	check("after close")
	_, ret := handshake(c.Control, 1)
	require.NoError(t, ret, "it opens again")
	require.NoError(t, c.Close(context.Background()))
	check("after the client went")
	_, ret = handshake(c.Control, 1)
	require.ErrorIs(t, ret, driverabi.NotOpen)
	require.NoError(t, c.Close(context.Background()), "again")
}

func TestDisabledAndUnknown(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	for _, m := range driverabi.ControlMethods()[11:] {
		require.ErrorIs(t, c.Control(m.Selector, fitting(m)), driverabi.Unsupported, m.Handler)
	}
	for _, selector := range []int{-1, 17, 1 << 30} {
		require.ErrorIs(t, c.Control(selector, &driverabi.Args{}), bad)
	}
	require.ErrorIs(t, c.Direct(9, &driverabi.Args{}), bad)
	require.ErrorIs(t, c.Control(7, nil), bad)
	for _, m := range driverabi.ControlMethods()[:11] {
		a := fitting(m)
		a.StructIn = append(a.StructIn, 0)
		require.ErrorIs(t, c.Control(m.Selector, a), bad, "%s with a byte more", m.Handler)
	}
}

func TestVersionStatusHint(t *testing.T) {
	r := newRig(t).bounded(9, totalDepth)
	c := r.attach(privileged)
	_, ret := handshake(c.Control, 1)
	require.NoError(t, ret)
	open, ret := handshake(c.Direct, 1)
	require.NoError(t, ret)

	a := fitting(driverabi.ControlMethods()[10])
	require.NoError(t, c.Control(10, a))
	require.Equal(t, Version, a.ScalarOut[0])

	r.prepared(c, r.program())
	r.pair(c)
	a = fitting(driverabi.ControlMethods()[7])
	require.NoError(t, c.Control(7, a))
	require.Equal(t, Status{Clients: 1, Resident: 1, Mapped: 2, Depth: 9}, Parse[Status](a.StructOut))

	hint := func(h Hint) (Hinted, error) {
		a := driverabi.Args{StructIn: Bytes(h), StructOut: make([]byte, 24)}
		ret := c.Direct(7, &a)
		return Parse[Hinted](a.StructOut), ret
	}
	session := driverabi.DeviceToken.Get(open)
	got, ret := hint(Hint{Session: session, Hint: HintBackground})
	require.NoError(t, ret)
	require.Equal(t, Hinted{Session: session, Hint: HintBackground}, got)
	got, ret = hint(Hint{Session: session})
	require.NoError(t, ret)
	require.Equal(t, HintBackground, got.Before)
	_, ret = hint(Hint{Session: session + 1})
	require.ErrorIs(t, ret, bad, "another token")
	_, ret = hint(Hint{Session: session, Hint: 2})
	require.ErrorIs(t, ret, bad, "no such hint")
}

// TestHintsNeedTheirEntitlement: without it the hint of a session is refused, whatever it is.
func TestHintsNeedTheirEntitlement(t *testing.T) {
	r := newRig(t)
	info := privileged
	info.ClientHints = false
	c := r.opened(info)
	err := c.Direct(7, fitting(driverabi.DirectMethods()[7]))
	require.ErrorIs(t, err, driverabi.NotPrivileged)
	require.ErrorContains(t, err, "com.apple.private.ane.allow-set-client-hints")
}
