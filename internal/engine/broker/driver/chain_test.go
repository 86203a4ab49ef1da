package driver

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func chain1(c *Client, token uint64) (Chained, driverabi.Return) {
	a := driverabi.Args{StructIn: Bytes(Chain{Token: token}), StructOut: make([]byte, 24)}
	ret := c.Control(9, &a)
	return Parse[Chained](a.StructOut), ret
}

func outputs1(c *Client, chain uint64, surfaces ...uint32) driverabi.Return {
	return c.Direct(3, &driverabi.Args{StructIn: Bytes(NewOutputSet(chain, surfaces))})
}

func ready1(c *Client, x ask) driverabi.Return {
	s := make([]byte, driverabi.InputsReadySize)
	copy(s, x.args().StructIn)
	return c.Direct(4, &driverabi.Args{AsyncPort: x.port, StructIn: s})
}

func procedure1(c *Client, x Procedure) driverabi.Return {
	return c.Direct(8, &driverabi.Args{StructIn: Bytes(x)})
}

func TestResidentSubmission(t *testing.T) {
	r := newRig(t, Options{})
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
		byBlock[r.driver.surfaces[id].block.ID()] = id
	}
	_, ret := chain1(c, token+1)
	require.Equal(t, bad, ret)
	_, ret = chain1(other, token)
	require.Equal(t, bad, ret)
	ch, ret := chain1(c, token)
	require.Equal(t, ok, ret)
	require.Equal(t, uint32(MaxOutputSets), ch.Sets)
	_, ret = chain1(c, token)
	require.Equal(t, bad, ret, "one chain")

	in := ask{token: ch.Token, surfaces: one[:1]}
	require.Equal(t, bad, ready1(c, in), "no output set")
	require.Equal(t, bad, outputs1(c, ch.Token), "none")
	require.Equal(t, bad, outputs1(c, ch.Token, append(one, two...)...), "too many")
	require.Equal(t, bad, outputs1(c, ch.Token, one[1]+two[1]+1),
		"not mapped")
	require.Equal(t, bad, outputs1(other, ch.Token, one[1:]...))
	require.Equal(t, ok, outputs1(c, ch.Token, one[1:]...))
	require.Equal(t, ok, outputs1(c, ch.Token, two[1:]...))

	asked := in
	asked.port = 1
	require.Equal(t, bad, ready1(c, asked), "only selector 2 is asynchronous")
	wrong := in
	wrong.surfaces = nil
	require.Equal(t, bad, ready1(c, wrong), "inputs are missing")
	for n := range uint32(2) {
		in.sequence = n
		require.Equal(t, ok, ready1(c, in))
	}
	require.Equal(t, []uint32{one[1], two[1]}, outputs, "in the order of the sets; a refusal takes none")
	in.sequence++
	require.Equal(t, bad, ready1(c, in), "no set is left")

	require.Equal(t, ok, procedure1(c, Procedure{Chain: ch.Token}))
	require.Equal(t, bad, procedure1(c, Procedure{Chain: ch.Token, Number: 1}))
	require.Equal(t, bad, procedure1(other, Procedure{Chain: ch.Token}))
	for range MaxOutputSets {
		require.Equal(t, ok, outputs1(c, ch.Token, one[1:]...))
	}
	require.Equal(t, Full, outputs1(c, ch.Token, one[1:]...))
	require.Equal(t, ok, unprepare1(c, token))
	require.Equal(t, bad, ready1(c, in), "the chain went with its program")
	many := OutputSet{Chain: ch.Token, Count: MaxOutputs + 1}
	require.Equal(t, bad, c.Direct(3, &driverabi.Args{StructIn: Bytes(many)}))
}

func TestChainingNeedsItsEntitlement(t *testing.T) {
	r := newRig(t, Options{})
	info := privileged
	info.AllowDataChaining = false
	c := r.opened(info)
	_, ret := chain1(c, r.prepared(c, r.program()))
	require.Equal(t, driverabi.NotPrivileged, ret)
	require.ErrorContains(t, c.Explain(), "com.apple.ane.allow-dataChaining-access")
	require.Equal(t, driverabi.NotPrivileged, outputs1(c, 0))
	require.Equal(t, driverabi.NotPrivileged, ready1(c, ask{}))
	require.Equal(t, driverabi.NotPrivileged, procedure1(c, Procedure{}))
}

// A chain that is stopped takes no inputs until its procedure is set, with which it begins
// again. Its numbers have no place in the order of the other requests.
func TestChainIsStopped(t *testing.T) {
	r := newRig(t, Options{})
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
	require.Equal(t, ok, ret)
	require.Equal(t, NotFound, c.StopChain(ch.Token+1))
	require.Equal(t, NotFound, c.StopChain(ch.Token), "nothing runs")
	in := ask{token: ch.Token, surfaces: ids[:1], sequence: 1 << 31}
	require.Equal(t, ok, outputs1(c, ch.Token, ids[1:]...))
	require.Equal(t, driverabi.Aborted, ready1(c, in), "it was stopped")

	for range 2 {
		require.Equal(t, ok, procedure1(c, Procedure{Chain: ch.Token}))
		require.Equal(t, bad, ready1(c, in), "the output set went with the procedure before")
		require.Equal(t, ok, outputs1(c, ch.Token, ids[1:]...))
		done := make(chan driverabi.Return, 1)
		go func() { done <- ready1(c, in) }()
		<-begun
		require.Equal(t, NotFound, c.Stop(in.sequence), "Stop is for requests of selector 2")
		require.Equal(t, WasRunning, c.StopChain(ch.Token))
		require.Equal(t, driverabi.Aborted, <-done)
		require.ErrorIs(t, c.ExplainChain(ch.Token), context.Canceled)
	}
	result = broken
	require.Equal(t, ok, procedure1(c, Procedure{Chain: ch.Token}))
	require.Equal(t, ok, outputs1(c, ch.Token, ids[1:]...))
	require.Equal(t, driverabi.DeviceError, ready1(c, in))
	_, ret = chain1(c, token)
	require.Equal(t, bad, ret)
	require.ErrorIs(t, c.ExplainChain(ch.Token), broken, "whatever another call answered since")

	var closed *Client
	require.Equal(t, NotFound, closed.StopChain(1))
	require.NoError(t, closed.ExplainChain(1))
}
