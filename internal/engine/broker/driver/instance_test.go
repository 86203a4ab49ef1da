package driver

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

type files map[string][]byte

func (f files) ReadFile(path string) ([]byte, error) {
	if b, has := f[path]; has {
		return b, nil
	}
	return nil, errors.New("no such file")
}

func (r *rig) weights() uint64 {
	r.t.Helper()
	id, err := r.driver.AddWeights(files{"w": {1}})
	require.NoError(r.t, err)
	return id
}

func TestInstance(t *testing.T) {
	r := newRig(t, Options{})
	c := r.opened(privileged)
	res, err := r.driver.AddProgram(adapter{r.engine.compile()})
	require.NoError(t, err)
	require.Equal(t, ok, create1(c, res))
	w := r.weights()
	token := c.created[res].token
	require.Equal(t, driverabi.NotReady, instance1(c, Instance{Base: token, Resource: w}), "the base is not resident")
	base, ret := prepare1(c, res)
	require.Equal(t, ok, ret)
	require.Equal(t, bad, instance1(c, Instance{Base: base.Token, Resource: res}), "a program is no weights")
	require.Equal(t, bad, instance1(c, Instance{Base: base.Token + 1, Resource: w}))

	require.Equal(t, ok, instance1(c, Instance{Base: base.Token, Resource: w,
		Flags: PowerSaving | MoreAggressive | KeepWired, Depth: 127}))
	require.Equal(t, bad, instance1(c, Instance{Base: base.Token, Resource: w}), "twice")
	x, ret := prepare1(c, w)
	require.Equal(t, ok, ret)
	require.Equal(t, base.Intermediate, x.Intermediate)
	require.NotEqual(t, base.Token, x.Token)
	require.Equal(t, 2, r.driver.Stats().Resident)
	require.ErrorIs(t, r.driver.RemoveProgram(w), ane.ErrInUse)
	require.Equal(t, files{"w": {1}}, c.created[w].program.exec.(*exec).files)
	_, ret = ask{token: x.Token, surfaces: r.pair(c)}.send(c)
	require.Equal(t, ok, ret)

	require.Equal(t, ok, unprepare1(c, base.Token))
	require.Equal(t, ok, destroy1(c, Destroy{Token: base.Token}))
	require.ErrorIs(t, r.driver.RemoveProgram(res), ane.ErrInUse, "its instance needs it")
	require.Equal(t, ok, unprepare1(c, x.Token))
	require.Equal(t, ok, destroy1(c, Destroy{Token: x.Token}))
	require.Equal(t, int32(1), r.engine.open.Load(), "the driver closed the instance")
	require.NoError(t, r.driver.RemoveProgram(res))
	require.NoError(t, r.driver.RemoveProgram(w))
	require.Equal(t, uint64(1), r.driver.Stats().Created)
}

func TestInstanceArguments(t *testing.T) {
	for _, tc := range []struct {
		restricted   bool
		flags, depth uint32
		want         error
		text         string
	}{
		{true, 0, 0, nil, ""},
		{false, PowerSaving | KeepWired, 127, nil, ""},
		{true, MoreAggressive, 1, nil, ""},
		{false, MoreAggressive, 1, ane.ErrDenied, "com.apple.aned.private.aggressivePowerSaving"},
		{true, 8, 0, ane.ErrName, "arguments 0x8"},
		{true, 0, 128, ane.ErrName, "queue depth 128"},
	} {
		err := ClientInfo{Restricted: tc.restricted}.CheckInstance(tc.flags, tc.depth)
		if tc.want == nil {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, tc.want)
		require.ErrorContains(t, err, tc.text)
	}
	r := newRig(t, Options{})
	info := privileged
	info.Restricted = false
	c := r.opened(info)
	require.Equal(t, driverabi.NotPrivileged, instance1(c, Instance{Flags: MoreAggressive}))
	require.ErrorIs(t, c.Explain(), ane.ErrDenied)
	require.Equal(t, bad, instance1(c, Instance{Flags: 8}))
	require.Equal(t, bad, instance1(c, Instance{Depth: 128}))
}

// TestInstanceByCompiling covers engines whose programs cannot change weights.
func TestInstanceByCompiling(t *testing.T) {
	var compiled int
	var answer func() (ane.Executable, error)
	o := Options{Instance: func(context.Context, ane.Executable, ane.Weights) (ane.Executable, error) {
		compiled++
		return answer()
	}}
	r := newRig(t, o)
	c := r.opened(privileged)
	base := r.prepared(c, r.program())
	w := r.weights()

	cause := &ane.Error{Err: ane.ErrCompile}
	answer = func() (ane.Executable, error) { return nil, cause }
	require.Equal(t, bad, instance1(c, Instance{Base: base, Resource: w}))
	require.ErrorIs(t, c.Explain(), cause)
	answer = func() (ane.Executable, error) { return large{r.engine.compile()}, nil }
	require.Equal(t, bad, instance1(c, Instance{Base: base, Resource: w}))
	require.ErrorIs(t, c.Explain(), ane.ErrMismatch)
	require.Equal(t, int32(1), r.engine.open.Load(), "the wrong one is closed")
	require.Zero(t, r.driver.Stats().Instances)
	answer = func() (ane.Executable, error) { return r.engine.compile(), nil }
	require.Equal(t, ok, instance1(c, Instance{Base: base, Resource: w}))
	require.Equal(t, 3, compiled)

	none := newRig(t, Options{})
	c = none.opened(privileged)
	require.Equal(t, driverabi.Unsupported,
		instance1(c, Instance{Base: none.prepared(c, none.program()), Resource: none.weights()}))
	require.ErrorContains(t, c.Explain(), "other weights")
}

func TestInstanceDepth(t *testing.T) {
	r := newRig(t, Options{})
	begun, let := r.hold()
	info, done := woken()
	c, other := r.opened(info), r.opened(info)
	res, err := r.driver.AddProgram(adapter{r.engine.compile()})
	require.NoError(t, err)
	base := r.prepared(c, res)
	w := r.weights()
	require.Equal(t, ok, instance1(c, Instance{Base: base, Resource: w, Depth: 4}))
	inst, ret := prepare1(c, w)
	require.Equal(t, ok, ret)

	y := ask{token: r.prepared(other, res), port: 2, surfaces: r.pair(other)}
	_, ret = y.send(other)
	require.Equal(t, ok, ret)
	within(t, begun)
	x := ask{token: inst.Token, port: 1, surfaces: r.pair(c)}
	for range 2 {
		_, ret = x.send(c)
		require.Equal(t, ok, ret)
		x.sequence++
	}
	_, ret = x.send(c)
	require.Equal(t, Full, ret, "two clients share: 4/2")
	require.True(t, other.Cancel(0))
	within(t, done)
	for range 2 {
		_, ret = x.send(c)
		require.Equal(t, ok, ret, "alone: 4")
		x.sequence++
	}
	_, ret = x.send(c)
	require.Equal(t, Full, ret)
	x.token = base
	_, ret = x.send(c)
	require.Equal(t, ok, ret, "the base has the client's depth")
	let()
	for range 5 {
		within(t, done)
	}
}
