package driver

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestProgramOrder(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	res := r.program()

	require.ErrorIs(t, create1(c, res+1), bad, "unknown")
	_, ret := prepare1(c, res)
	require.ErrorIs(t, ret, bad, "not created")
	require.ErrorIs(t, destroy1(c, Destroy{Resource: res}), bad, "not created")

	require.NoError(t, create1(c, res))
	require.ErrorIs(t, create1(c, res), bad, "twice")
	require.ErrorIs(t, r.driver.Remove(res), ane.ErrInUse)
	require.NoError(t, destroy1(c, Destroy{Resource: res}), "one that was never prepared")

	require.NoError(t, create1(c, res))
	x, ret := prepare1(c, res)
	require.NoError(t, ret)
	require.Equal(t, int32(1), r.engine.loaded.Load())
	_, ret = prepare1(c, res)
	require.ErrorIs(t, ret, bad, "prepared already")
	require.ErrorIs(t, destroy1(c, Destroy{Token: x.Token}), bad, "prepared")
	require.ErrorIs(t, unprepare1(c, x.Token+1), bad)
	require.ErrorIs(t, unprepare1(c, 0), bad)
	require.NoError(t, unprepare1(c, x.Token))
	require.Zero(t, r.engine.loaded.Load())
	require.ErrorIs(t, unprepare1(c, x.Token), bad, "not prepared")
	_, ret = ask{token: x.Token}.send(c)
	require.ErrorIs(t, ret, driverabi.NotReady)

	again, ret := prepare1(c, res)
	require.NoError(t, ret)
	require.Equal(t, x, again, "the token was minted at create")
	require.NoError(t, unprepare1(c, x.Token))
	require.NoError(t, destroy1(c, Destroy{Token: x.Token}))
	require.ErrorIs(t, destroy1(c, Destroy{Token: x.Token}), bad)
	_, ret = ask{token: x.Token}.send(c)
	require.ErrorIs(t, ret, bad)
	require.NoError(t, r.driver.Remove(res))
	require.ErrorIs(t, r.driver.Remove(res), ane.ErrName)
}

func TestTokensOfOthers(t *testing.T) {
	r := newRig(t)
	one, other := r.opened(privileged), r.opened(privileged)
	token := r.prepared(one, r.program())
	surfaces := r.pair(other)
	_, ret := ask{token: token, surfaces: surfaces}.send(other)
	require.ErrorIs(t, ret, bad)
	require.ErrorIs(t, unprepare1(other, token), bad)
	require.ErrorIs(t, destroy1(other, Destroy{Token: token}), bad)
	require.ErrorIs(t, instance1(other, Instance{Base: token}), bad)
}

func TestResidencyIsBoundToIdentity(t *testing.T) {
	r := newRig(t)
	stranger := privileged
	stranger.Identity = "two"
	owner, sibling, third := r.opened(privileged), r.opened(privileged), r.opened(stranger)
	res := r.program()
	require.NoError(t, create1(owner, res))
	first, ret := prepare1(owner, res)
	require.NoError(t, ret)

	require.ErrorIs(t, create1(third, res), driverabi.NotPermitted)
	_, ret = prepare1(third, res)
	require.ErrorIs(t, ret, bad)
	require.NoError(t, create1(sibling, res))
	second, ret := prepare1(sibling, res)
	require.NoError(t, ret)
	require.Equal(t, first.Intermediate, second.Intermediate, "one set of intermediate buffers")
	require.NotEqual(t, first.Token, second.Token)
	require.Equal(t, int32(1), r.engine.loaded.Load(), "loaded once")

	require.NoError(t, owner.Close(context.Background()))
	require.Equal(t, int32(1), r.engine.loaded.Load(), "the sibling has it")
	require.ErrorIs(t, create1(third, res), driverabi.NotPermitted)
	_, ret = ask{token: second.Token, surfaces: r.pair(sibling)}.send(sibling)
	require.NoError(t, ret)
	require.NoError(t, sibling.Close(context.Background()))
	require.NoError(t, create1(third, res), "no client's any more")
}

func TestLoadFails(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	res := r.program()
	cause := errors.New("no room")
	for _, tc := range []struct {
		err  error
		want driverabi.Return
	}{
		{cause, driverabi.DeviceError},
		{&ane.Error{Err: ane.ErrExhausted}, driverabi.NoResources},
		{ane.Deadline("load", "fake", context.Canceled), driverabi.Aborted},
		{&ane.Error{Err: ane.ErrStuck}, driverabi.Busy},
	} {
		r.engine.load = func(context.Context) error { return tc.err }
		if tc.err == cause {
			require.NoError(t, create1(c, res))
		}
		_, ret := prepare1(c, res)
		require.Equal(t, tc.want, Code(ret))
		require.ErrorIs(t, ret, tc.err)
		require.ErrorIs(t, ret, tc.want)
	}
	r.engine.load = nil
	_, ret := prepare1(c, res)
	require.NoError(t, ret, "it can be tried again")
	r.engine.unload = func() error { return cause }
	require.ErrorIs(t, unprepare1(c, c.created(res).token), driverabi.DeviceError)
	require.Zero(t, r.driver.Stats().Resident, "an unclean end is an end")
}

// TestCloseDuringLoad: a client that goes while its program loads ends the load.
func TestCloseDuringLoad(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	res := r.program()
	begun := make(chan bool, 1)
	r.engine.load = func(ctx context.Context) error {
		begun <- true
		<-ctx.Done()
		return ane.Deadline("load", "fake", ctx.Err())
	}
	require.NoError(t, create1(c, res))
	got := make(chan error, 1)
	go func() {
		_, ret := prepare1(c, res)
		got <- ret
	}()
	within(t, begun)
	require.NoError(t, c.Close(context.Background()))
	require.ErrorIs(t, within(t, got), driverabi.Aborted)
	require.NoError(t, r.driver.Remove(res))
}

func TestAddAndRemove(t *testing.T) {
	r := newRig(t)
	require.ErrorIs(t, r.driver.Remove(1), ane.ErrName)
	require.NoError(t, r.driver.Close(context.Background()))
	_, err := r.driver.AddProgram(r.engine.compile())
	require.ErrorIs(t, err, ane.ErrClosed)
}
