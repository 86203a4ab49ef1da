package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

// chainFake is a fake engine that runs chains.
type chainFake struct {
	*fake
	chain func(ctx context.Context, steps []ane.Invocation) error
}

func (c *chainFake) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	return c.chain(ctx, steps)
}

// twoRequests opens e and makes two requests of one program, which the test closes.
func twoRequests(t *testing.T, e ane.Engine) (d *ane.Device, m *ane.Model, a, b *ane.Request) {
	t.Helper()
	d, err := ane.Open(e, "")
	require.NoError(t, err)
	m, err = d.Compile(t.Context(), anySource)
	require.NoError(t, err)
	a, err = m.NewRequest(t.Context())
	require.NoError(t, err)
	b, err = m.NewRequest(t.Context())
	require.NoError(t, err)
	return d, m, a, b
}

func TestChainRunsEachRequestAsOftenAsItIsNamed(t *testing.T) {
	boom := errors.New("boom")
	e := &chainFake{fake: adder(t)}
	d, m, a, b := twoRequests(t, e)

	var seen int
	e.chain = func(_ context.Context, steps []ane.Invocation) error {
		seen = len(steps)
		_, busy := a.Evaluate(context.Background())
		require.ErrorIs(t, busy, ane.ErrBusy, "the engine owns the tensors of all steps")
		return nil
	}
	result, err := d.EvaluateChain(t.Context(), a, b, a)
	require.NoError(t, err)
	require.Equal(t, 3, seen)
	require.Equal(t, m.Receipt(), *result.Receipt)
	_, err = a.Evaluate(t.Context())
	require.NoError(t, err, "the caller owns the tensors again")

	e.chain = func(context.Context, []ane.Invocation) error { return boom }
	_, err = d.EvaluateChain(t.Context(), a, b)
	require.ErrorIs(t, err, boom)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.EvaluateChain(over, a)
	require.ErrorIs(t, err, ane.ErrDeadline)

	require.NoError(t, b.Close())
	_, err = d.EvaluateChain(t.Context(), a, b)
	require.ErrorIs(t, err, ane.ErrClosed)
	_, err = a.Evaluate(t.Context())
	require.NoError(t, err, "a refused chain leaves no request in flight")
	require.NoError(t, a.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
	_, err = d.EvaluateChain(t.Context(), a)
	require.ErrorIs(t, err, ane.ErrClosed)
}

// With an engine that has no chains, or one around it, the device evaluates the steps and stops at the first failure.
func TestChainWithAnEngineWithoutChains(t *testing.T) {
	boom := errors.New("boom")
	none := func(context.Context, []ane.Invocation) error { return errors.ErrUnsupported }
	plain, around := adder(t), &chainFake{fake: adder(t), chain: none}
	for e, f := range map[ane.Engine]*fake{plain: plain, around: around.fake} {
		var runs, fails int
		f.evaluate = func(context.Context) error {
			if runs++; runs == fails {
				return boom
			}
			return nil
		}
		d, m, a, b := twoRequests(t, e)
		result, err := d.EvaluateChain(t.Context(), a, b, a)
		require.NoError(t, err)
		require.Equal(t, 3, runs)
		require.Equal(t, m.Receipt(), *result.Receipt)

		runs, fails = 0, 2
		_, err = d.EvaluateChain(t.Context(), a, b, a)
		require.ErrorIs(t, err, boom)
		require.ErrorContains(t, err, "step 2 of 3")
		require.Equal(t, 2, runs, "later steps do not run")
		require.NoError(t, a.Close(), "a failed chain leaves no request in flight")
		require.NoError(t, b.Close())
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
	}
}

// An engine whose step failed for want of something is not asked twice.
func TestChainThatFailsWithinIsNotRunAgain(t *testing.T) {
	e := &chainFake{fake: adder(t)}
	e.chain = func(context.Context, []ane.Invocation) error {
		return &ane.Error{Op: "evaluate", Err: errors.ErrUnsupported}
	}
	e.evaluate = func(context.Context) error { t.Fatal("run again"); return nil }
	d, m, r, b := twoRequests(t, e)
	_, err := d.EvaluateChain(t.Context(), r)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, r.Close())
	require.NoError(t, b.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
}

func TestChainRefusals(t *testing.T) {
	r := request(t, model(t, adder(t)))
	d, err := ane.Open(&chainFake{fake: adder(t)}, "")
	require.NoError(t, err)
	for want, requests := range map[error][]*ane.Request{
		ane.ErrLength: {}, ane.ErrClosed: {nil}, ane.ErrForeign: {r},
	} {
		_, err := d.EvaluateChain(t.Context(), requests...)
		require.ErrorIs(t, err, want)
	}
	require.NoError(t, d.Close())
	_, err = (*ane.Device)(nil).EvaluateChain(t.Context(), r)
	require.ErrorIs(t, err, ane.ErrClosed)
}
