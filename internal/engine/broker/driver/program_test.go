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
	r := newRig(t, Options{})
	c := r.opened(privileged)
	res := r.program()

	require.Equal(t, bad, create1(c, res+1), "unknown")
	_, ret := prepare1(c, res)
	require.Equal(t, bad, ret, "not created")
	require.Equal(t, bad, destroy1(c, Destroy{Resource: res}), "not created")

	require.Equal(t, ok, create1(c, res))
	require.Equal(t, bad, create1(c, res), "twice")
	require.ErrorIs(t, r.driver.RemoveProgram(res), ane.ErrInUse)
	require.Equal(t, ok, destroy1(c, Destroy{Resource: res}), "one that was never prepared")

	require.Equal(t, ok, create1(c, res))
	x, ret := prepare1(c, res)
	require.Equal(t, ok, ret)
	require.Equal(t, int32(1), r.engine.loaded.Load())
	_, ret = prepare1(c, res)
	require.Equal(t, bad, ret, "prepared already")
	require.Equal(t, bad, destroy1(c, Destroy{Token: x.Token}), "prepared")
	require.Equal(t, bad, unprepare1(c, x.Token+1))
	require.Equal(t, bad, unprepare1(c, 0))
	require.Equal(t, ok, unprepare1(c, x.Token))
	require.Zero(t, r.engine.loaded.Load())
	require.Equal(t, bad, unprepare1(c, x.Token), "not prepared")
	_, ret = ask{token: x.Token}.send(c)
	require.Equal(t, driverabi.NotReady, ret)

	again, ret := prepare1(c, res)
	require.Equal(t, ok, ret)
	require.Equal(t, x, again, "the token was minted at create")
	require.Equal(t, ok, unprepare1(c, x.Token))
	require.Equal(t, ok, destroy1(c, Destroy{Token: x.Token}))
	require.Equal(t, bad, destroy1(c, Destroy{Token: x.Token}))
	_, ret = ask{token: x.Token}.send(c)
	require.Equal(t, bad, ret)
	require.NoError(t, r.driver.RemoveProgram(res))
	require.ErrorIs(t, r.driver.RemoveProgram(res), ane.ErrName)
}

func TestTokensOfOthers(t *testing.T) {
	r := newRig(t, Options{})
	one, other := r.opened(privileged), r.opened(privileged)
	token := r.prepared(one, r.program())
	surfaces := r.pair(other)
	_, ret := ask{token: token, surfaces: surfaces}.send(other)
	require.Equal(t, bad, ret)
	require.Equal(t, bad, unprepare1(other, token))
	require.Equal(t, bad, destroy1(other, Destroy{Token: token}))
	require.Equal(t, bad, instance1(other, Instance{Base: token}))
}

func TestResidencyIsBoundToIdentity(t *testing.T) {
	r := newRig(t, Options{})
	stranger := privileged
	stranger.Identity = "two"
	owner, sibling, third := r.opened(privileged), r.opened(privileged), r.opened(stranger)
	res := r.program()
	require.Equal(t, ok, create1(owner, res))
	first, ret := prepare1(owner, res)
	require.Equal(t, ok, ret)

	require.Equal(t, driverabi.NotPermitted, create1(third, res))
	_, ret = prepare1(third, res)
	require.Equal(t, bad, ret)
	require.Equal(t, ok, create1(sibling, res))
	second, ret := prepare1(sibling, res)
	require.Equal(t, ok, ret)
	require.Equal(t, first.Intermediate, second.Intermediate, "one set of intermediate buffers")
	require.NotEqual(t, first.Token, second.Token)
	require.Equal(t, int32(1), r.engine.loaded.Load(), "loaded once")

	require.NoError(t, owner.Close(context.Background()))
	require.Equal(t, int32(1), r.engine.loaded.Load(), "the sibling has it")
	require.Equal(t, driverabi.NotPermitted, create1(third, res))
	_, ret = ask{token: second.Token, surfaces: r.pair(sibling)}.send(sibling)
	require.Equal(t, ok, ret)
	require.NoError(t, sibling.Close(context.Background()))
	require.Equal(t, ok, create1(third, res), "no client's any more")
}

func TestLoadFails(t *testing.T) {
	r := newRig(t, Options{})
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
			require.Equal(t, ok, create1(c, res))
		}
		_, ret := prepare1(c, res)
		require.Equal(t, tc.want, ret)
		require.ErrorIs(t, c.Explain(), tc.err)
		require.ErrorIs(t, c.Explain(), tc.want)
	}
	r.engine.load = nil
	_, ret := prepare1(c, res)
	require.Equal(t, ok, ret, "it can be tried again")
	r.engine.unload = func() error { return cause }
	require.Equal(t, driverabi.DeviceError, unprepare1(c, c.created[res].token))
	require.Zero(t, r.driver.Stats().Resident, "an unclean end is an end")
}

// TestCloseDuringLoad: a client that goes while its program loads ends the load.
func TestCloseDuringLoad(t *testing.T) {
	r := newRig(t, Options{})
	c := r.opened(privileged)
	res := r.program()
	begun := make(chan bool, 1)
	r.engine.load = func(ctx context.Context) error {
		begun <- true
		<-ctx.Done()
		return ane.Deadline("load", "fake", ctx.Err())
	}
	require.Equal(t, ok, create1(c, res))
	got := make(chan driverabi.Return, 1)
	go func() {
		_, ret := prepare1(c, res)
		got <- ret
	}()
	within(t, begun)
	require.NoError(t, c.Close(context.Background()))
	require.Equal(t, driverabi.Aborted, within(t, got))
	require.NoError(t, r.driver.RemoveProgram(res))
}

func TestAddAndRemove(t *testing.T) {
	r := newRig(t, Options{})
	_, err := r.driver.AddProgram(nil)
	require.ErrorIs(t, err, ane.ErrUnavailable)
	_, err = r.driver.AddWeights(nil)
	require.ErrorIs(t, err, ane.ErrUnavailable)
	_, err = r.driver.AddSurface(nil)
	require.ErrorIs(t, err, ane.ErrStale)
	require.ErrorIs(t, r.driver.RemoveSurface(1), ane.ErrName)
	require.NoError(t, r.driver.Close(context.Background()))
	_, err = r.driver.AddProgram(r.engine.compile())
	require.ErrorIs(t, err, ane.ErrClosed)
}
