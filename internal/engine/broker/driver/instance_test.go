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
	r := newRig(t)
	c := r.opened(privileged)
	res, err := r.driver.AddProgram(adapter{r.engine.compile()})
	require.NoError(t, err)
	require.NoError(t, create1(c, res))
	w := r.weights()
	token := c.created(res).token
	require.ErrorIs(t, instance1(c, Instance{Base: token, Resource: w}), driverabi.NotReady, "the base is not resident")
	base, ret := prepare1(c, res)
	require.NoError(t, ret)
	require.ErrorIs(t, instance1(c, Instance{Base: base.Token, Resource: res}), bad, "a program is no weights")
	require.ErrorIs(t, instance1(c, Instance{Base: base.Token + 1, Resource: w}), bad)

	require.NoError(t, instance1(c, Instance{Base: base.Token, Resource: w,
		Flags: PowerSaving | MoreAggressive | KeepWired, Depth: 127}))
	require.ErrorIs(t, instance1(c, Instance{Base: base.Token, Resource: w}), bad, "twice")
	x, ret := prepare1(c, w)
	require.NoError(t, ret)
	require.Equal(t, base.Intermediate, x.Intermediate)
	require.NotEqual(t, base.Token, x.Token)
	require.Equal(t, 2, r.driver.Stats().Resident)
	require.ErrorIs(t, r.driver.Remove(w), ane.ErrInUse)
	require.Equal(t, files{"w": {1}}, c.created(w).program.exec.(*exec).files)
	_, ret = ask{token: x.Token, surfaces: r.pair(c)}.send(c)
	require.NoError(t, ret)

	require.NoError(t, unprepare1(c, base.Token))
	require.NoError(t, destroy1(c, Destroy{Token: base.Token}))
	require.ErrorIs(t, r.driver.Remove(res), ane.ErrInUse, "its instance needs it")
	require.NoError(t, unprepare1(c, x.Token))
	require.NoError(t, destroy1(c, Destroy{Token: x.Token}))
	require.Equal(t, int32(1), r.engine.open.Load(), "the driver closed the instance")
	require.NoError(t, r.driver.Remove(res))
	require.NoError(t, r.driver.Remove(w))
	require.Equal(t, uint64(1), r.driver.Stats().Created)
}

func TestInstanceArguments(t *testing.T) {
	r := newRig(t)
	plain := privileged
	plain.Restricted = false
	res, err := r.driver.AddProgram(adapter{r.engine.compile()})
	require.NoError(t, err)
	for _, tc := range []struct {
		info         ClientInfo
		flags, depth uint32
		want         driverabi.Return
		text         string
	}{
		{privileged, 0, 0, ok, ""},
		{plain, PowerSaving | KeepWired, 127, ok, ""},
		{privileged, MoreAggressive, 1, ok, ""},
		{plain, MoreAggressive, 1, driverabi.NotPrivileged, "com.apple.aned.private.aggressivePowerSaving"},
		{privileged, 8, 0, bad, "arguments 0x8"},
		{privileged, 0, 128, bad, "queue depth 128"},
	} {
		c := r.opened(tc.info)
		base := r.prepared(c, res)
		err := instance1(c, Instance{Base: base, Resource: r.weights(), Flags: tc.flags, Depth: tc.depth})
		require.Equal(t, tc.want, Code(err))
		if err != nil {
			require.ErrorContains(t, err, tc.text)
		}
		require.NoError(t, c.Close(t.Context()))
	}
}

// maker is an exec that answers as a test says when it is asked for an instance.
type maker struct {
	*exec
	answer func() (ane.Executable, error)
}

func (x *maker) NewInstance(context.Context, ane.Weights) (ane.Executable, error) { return x.answer() }

func TestInstanceFails(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	x := &maker{exec: r.engine.compile()}
	res, err := r.driver.AddProgram(x)
	require.NoError(t, err)
	base, w := r.prepared(c, res), r.weights()

	cause := &ane.Error{Err: ane.ErrCompile}
	x.answer = func() (ane.Executable, error) { return nil, cause }
	err = instance1(c, Instance{Base: base, Resource: w})
	require.ErrorIs(t, err, bad)
	require.ErrorIs(t, err, cause)
	x.answer = func() (ane.Executable, error) { return large{r.engine.compile()}, nil }
	err = instance1(c, Instance{Base: base, Resource: w})
	require.ErrorIs(t, err, bad)
	require.ErrorIs(t, err, ane.ErrMismatch)
	require.Equal(t, int32(1), r.engine.open.Load(), "the wrong one is closed")
	require.Zero(t, r.driver.Stats().Instances)
	x.answer = func() (ane.Executable, error) { return r.engine.compile(), nil }
	require.NoError(t, instance1(c, Instance{Base: base, Resource: w}))

	err = instance1(c, Instance{Base: r.prepared(c, r.program()), Resource: r.weights()})
	require.ErrorIs(t, err, driverabi.Unsupported, "no Instancer")
	require.ErrorContains(t, err, "other weights")
}

func TestInstanceDepth(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c, other := r.opened(info), r.opened(info)
	res, err := r.driver.AddProgram(adapter{r.engine.compile()})
	require.NoError(t, err)
	base := r.prepared(c, res)
	w := r.weights()
	require.NoError(t, instance1(c, Instance{Base: base, Resource: w, Depth: 4}))
	inst, ret := prepare1(c, w)
	require.NoError(t, ret)

	y := ask{token: r.prepared(other, res), port: 2, surfaces: r.pair(other)}
	_, ret = y.send(other)
	require.NoError(t, ret)
	within(t, begun)
	x := ask{token: inst.Token, port: 1, surfaces: r.pair(c)}
	for range 2 {
		_, ret = x.send(c)
		require.NoError(t, ret)
		x.sequence++
	}
	_, ret = x.send(c)
	require.ErrorIs(t, ret, Full, "two clients share: 4/2")
	require.NotEqual(t, NotFound, other.Stop(0))
	within(t, done)
	for range 2 {
		_, ret = x.send(c)
		require.NoError(t, ret, "alone: 4")
		x.sequence++
	}
	_, ret = x.send(c)
	require.ErrorIs(t, ret, Full)
	x.token = base
	_, ret = x.send(c)
	require.NoError(t, ret, "the base has the client's depth")
	let()
	for range 5 {
		within(t, done)
	}
}
