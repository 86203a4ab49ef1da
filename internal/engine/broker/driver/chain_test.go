package driver

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func chain1(c *Client, token uint64) (Chained, error) {
	a := driverabi.Args{StructIn: Bytes(Chain{Token: token}), StructOut: make([]byte, 24)}
	ret := c.Control(9, &a)
	return Parse[Chained](a.StructOut), ret
}

func outputs1(c *Client, chain uint64, surfaces ...uint32) error {
	return c.Direct(3, &driverabi.Args{StructIn: Bytes(NewOutputSet(chain, surfaces))})
}

func ready1(c *Client, x ask) error {
	s := make([]byte, driverabi.InputsReadySize)
	copy(s, x.args().StructIn)
	return c.Direct(4, &driverabi.Args{AsyncPort: x.port, StructIn: s})
}

func procedure1(c *Client, x Procedure) error {
	return c.Direct(8, &driverabi.Args{StructIn: Bytes(x)})
}

func TestResidentSubmission(t *testing.T) {
	r := newRig(t)
	var outputs []uint32
	byBlock := map[uint32]uint32{}
	r.engine.evaluate = func(_ context.Context, list []*ane.Tensor) error {
		outputs = append(outputs, byBlock[list[1].Block().ID()])
		return nil
	}
	c, other := r.opened(privileged), r.opened(privileged)
	token := r.prepared(c, r.program())
	one, two := r.pair(c), r.pair(c)
	for _, id := range append(one, two...) {
		byBlock[r.driver.resources[uint64(id)].block.ID()] = id
	}
	_, ret := chain1(c, token+1)
	require.ErrorIs(t, ret, bad)
	_, ret = chain1(other, token)
	require.ErrorIs(t, ret, bad)
	ch, ret := chain1(c, token)
	require.NoError(t, ret)
	require.Equal(t, uint32(MaxOutputSets), ch.Sets)
	_, ret = chain1(c, token)
	require.ErrorIs(t, ret, bad, "one chain")

	in := ask{token: ch.Token, surfaces: one[:1]}
	require.ErrorIs(t, ready1(c, in), bad, "no output set")
	require.ErrorIs(t, outputs1(c, ch.Token), bad, "none")
	require.ErrorIs(t, outputs1(c, ch.Token, append(one, two...)...), bad, "too many")
	require.ErrorIs(t, outputs1(c, ch.Token, one[1]+two[1]+1), bad, "not mapped")
	require.ErrorIs(t, outputs1(other, ch.Token, one[1:]...), bad)
	require.NoError(t, outputs1(c, ch.Token, one[1:]...))
	require.NoError(t, outputs1(c, ch.Token, two[1:]...))

	asked := in
	asked.port = 1
	require.ErrorIs(t, ready1(c, asked), bad, "only selector 2 is asynchronous")
	wrong := in
	wrong.surfaces = nil
	require.ErrorIs(t, ready1(c, wrong), bad, "inputs are missing")
	for n := range uint32(2) {
		in.sequence = n
		require.NoError(t, ready1(c, in))
	}
	require.Equal(t, []uint32{one[1], two[1]}, outputs, "in the order of the sets; a refusal takes none")
	in.sequence++
	require.ErrorIs(t, ready1(c, in), bad, "no set is left")

	require.NoError(t, procedure1(c, Procedure{Chain: ch.Token}))
	require.ErrorIs(t, procedure1(c, Procedure{Chain: ch.Token, Number: 1}), bad)
	require.ErrorIs(t, procedure1(other, Procedure{Chain: ch.Token}), bad)
	for range MaxOutputSets {
		require.NoError(t, outputs1(c, ch.Token, one[1:]...))
	}
	require.ErrorIs(t, outputs1(c, ch.Token, one[1:]...), Full)
	require.NoError(t, unprepare1(c, token))
	require.ErrorIs(t, ready1(c, in), bad, "the chain went with its program")
	many := OutputSet{Chain: ch.Token, Count: MaxOutputs + 1}
	require.ErrorIs(t, c.Direct(3, &driverabi.Args{StructIn: Bytes(many)}), bad)
}

func TestChainingNeedsItsEntitlement(t *testing.T) {
	r := newRig(t)
	info := privileged
	info.AllowDataChaining = false
	c := r.opened(info)
	_, ret := chain1(c, r.prepared(c, r.program()))
	require.ErrorIs(t, ret, driverabi.NotPrivileged)
	require.ErrorContains(t, ret, "com.apple.ane.allow-dataChaining-access")
	require.ErrorIs(t, outputs1(c, 0), driverabi.NotPrivileged)
	require.ErrorIs(t, ready1(c, ask{}), driverabi.NotPrivileged)
	require.ErrorIs(t, procedure1(c, Procedure{}), driverabi.NotPrivileged)
}

// A chain that is stopped takes no inputs until its procedure is set, with which it begins
// again. Its numbers have no place in the order of the other requests.
func TestChainIsStopped(t *testing.T) {
	r := newRig(t)
	begun, broken := make(chan struct{}, 1), errors.New("broken")
	var result error
	r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		if result != nil {
			return result
		}
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	c := r.opened(privileged)
	token := r.prepared(c, r.program())
	ids := r.pair(c)
	ch, ret := chain1(c, token)
	require.NoError(t, ret)
	require.Equal(t, NotFound, c.StopChain(ch.Token+1))
	require.Equal(t, NotFound, c.StopChain(ch.Token), "nothing runs")
	in := ask{token: ch.Token, surfaces: ids[:1], sequence: 1 << 31}
	require.NoError(t, outputs1(c, ch.Token, ids[1:]...))
	require.ErrorIs(t, ready1(c, in), driverabi.Aborted, "it was stopped")

	for range 2 {
		require.NoError(t, procedure1(c, Procedure{Chain: ch.Token}))
		require.ErrorIs(t, ready1(c, in), bad, "the output set went with the procedure before")
		require.NoError(t, outputs1(c, ch.Token, ids[1:]...))
		done := make(chan error, 1)
		go func() { done <- ready1(c, in) }()
		<-begun
		require.Equal(t, NotFound, c.Stop(in.sequence), "Stop is for requests of selector 2")
		require.Equal(t, WasRunning, c.StopChain(ch.Token))
		require.ErrorIs(t, <-done, driverabi.Aborted)
	}
	result = broken
	require.NoError(t, procedure1(c, Procedure{Chain: ch.Token}))
	require.NoError(t, outputs1(c, ch.Token, ids[1:]...))
	ret = ready1(c, in)
	require.ErrorIs(t, ret, driverabi.DeviceError)
	require.ErrorIs(t, ret, broken)
}

// TestSetsKeepTheirOrder: inputs that are ready at the same time take a set each, the first
// ones first, whatever has to be bound.
func TestSetsKeepTheirOrder(t *testing.T) {
	r := newRig(t)
	ran := map[uint32]int{}
	r.engine.evaluate = func(_ context.Context, list []*ane.Tensor) error {
		ran[list[1].Block().ID()]++
		return nil
	}
	c := r.opened(privileged)
	ids := r.pair(c)
	ch, ret := chain1(c, r.prepared(c, r.program()))
	require.NoError(t, ret)
	const sets = 8
	var all sync.WaitGroup
	for range sets {
		id := r.surface(1)
		r.mapped(c, id)
		require.NoError(t, outputs1(c, ch.Token, id))
	}
	for range sets {
		all.Go(func() {
			if ret := ready1(c, ask{token: ch.Token, surfaces: ids[:1]}); ret != nil {
				t.Error(ret)
			}
		})
	}
	all.Wait()
	require.Len(t, ran, sets, "each once")
	require.ErrorIs(t, ready1(c, ask{token: ch.Token, surfaces: ids[:1]}), bad, "no set is left")
}
