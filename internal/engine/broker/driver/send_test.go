package driver

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// woken is a privileged client's info whose completions go to a channel.
func woken() (ClientInfo, chan Completion) {
	done := make(chan Completion, 4096)
	i := privileged
	i.Wake = func(d Completion) { done <- d }
	return i, done
}

func TestSendAtOnce(t *testing.T) {
	r := newRig(t)
	var runs atomic.Int32
	r.engine.evaluate = func(_ context.Context, list []*ane.Tensor) error {
		runs.Add(1)
		list[1].Bytes()[0] = list[0].Bytes()[0] + 1
		return nil
	}
	c := r.opened(privileged)
	token := r.prepared(c, r.program())
	surfaces := r.pair(c)
	for n := range uint32(3) {
		reply, ret := ask{token: token, sequence: n, surfaces: surfaces}.send(c)
		require.NoError(t, ret)
		require.Equal(t, sendReply{Sequence: n, Token: token, Status: StatusFinished}, reply)
	}
	require.Equal(t, int32(3), runs.Load())
	require.Equal(t, 1, r.driver.Stats().Bound, "prepared once")
	require.Equal(t, byte(1), r.driver.resources[uint64(surfaces[1])].block.Bytes()[0])

	r.engine.evaluate = func(context.Context, []*ane.Tensor) error { return errors.New("melted") }
	reply, ret := ask{token: token, sequence: 3, surfaces: surfaces}.send(c)
	require.ErrorIs(t, ret, driverabi.DeviceError)
	require.Equal(t, sendReply{Sequence: 3, Token: token, Status: StatusFailed,
		Result: uint32(driverabi.DeviceError)}, reply)
	require.ErrorContains(t, ret, "melted")
}

func TestSendThroughBothClients(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	token, surfaces := r.prepared(c, r.program()), r.pair(c)
	require.NoError(t, c.Control(2, ask{token: token, sequence: 0, surfaces: surfaces}.args()))
	require.NoError(t, c.Direct(2, ask{token: token, sequence: 1, surfaces: surfaces}.args()))
}

func TestSendRefusals(t *testing.T) {
	r := newRig(t)
	plain := privileged
	plain.RealTime = false
	c := r.opened(plain)
	token := r.prepared(c, r.program())
	surfaces := r.pair(c)
	unmapped := r.surface(1)
	edit := func(f func([]byte)) ask {
		return ask{token: token, sequence: 5, surfaces: surfaces, edit: f}
	}
	for name, tc := range map[string]struct {
		ask  ask
		want driverabi.Return
	}{
		"token":        {ask{token: token + 1, sequence: 5, surfaces: surfaces}, bad},
		"no token":     {ask{sequence: 5, surfaces: surfaces}, bad},
		"category":     {edit(func(s []byte) { driverabi.RequestCategory.Put(s, 3) }), bad},
		"priority":     {edit(func(s []byte) { class(s, driverabi.QoSDefault, 6) }), bad},
		"pair swapped": {edit(func(s []byte) { class(s, 5, driverabi.QoSDefault) }), bad},
		"real time":    {edit(func(s []byte) { class(s, 0, 2) }), driverabi.NotPrivileged},
		"doorbell 32":  {ask{token: token, sequence: 5, surfaces: surfaces, doorbell: 32}, bad},
		"doorbell big": {ask{token: token, sequence: 5, surfaces: surfaces, doorbell: 1 << 32}, bad},
		"flags":        {ask{token: token, sequence: 5, surfaces: surfaces, submit: Submit{Flags: 2}}, bad},
		"time limit": {ask{token: token, sequence: 5, surfaces: surfaces,
			submit: Submit{Timeout: math.MaxInt64 + 1}}, bad},
		"port":       {ask{token: token, sequence: 5, surfaces: surfaces, port: 1}, bad},
		"none":       {ask{token: token, sequence: 5}, bad},
		"one":        {ask{token: token, sequence: 5, surfaces: surfaces[:1]}, bad},
		"three":      {ask{token: token, sequence: 5, surfaces: append(surfaces[:2:2], unmapped)}, bad},
		"not mapped": {ask{token: token, sequence: 5, surfaces: []uint32{surfaces[0], unmapped}}, bad},
		"unknown":    {ask{token: token, sequence: 5, surfaces: []uint32{surfaces[0], unmapped + 1}}, bad},
		"in is out":  {ask{token: token, sequence: 5, surfaces: []uint32{surfaces[0], surfaces[0]}}, bad},
	} {
		_, ret := tc.ask.send(c)
		require.Equal(t, tc.want, Code(ret), name)
		require.ErrorIs(t, ret, tc.want, name)
	}
	r.engine.prepare = func() error { return &ane.Error{Err: ane.ErrStale} }
	_, ret := edit(nil).send(c)
	require.ErrorIs(t, ret, bad)
	r.engine.prepare = nil
	for _, bell := range []uint64{0, 31} {
		_, ret = ask{token: token, sequence: 5 + uint32(bell), surfaces: surfaces, doorbell: bell}.send(c)
		require.NoError(t, ret, "a refusal costs nothing, not even the sequence number")
	}
}

func TestShortSurface(t *testing.T) {
	r := newRig(t)
	r.engine.in = 1
	c := r.opened(privileged)
	x := r.engine.compile()
	res, err := r.driver.AddProgram(large{x})
	require.NoError(t, err)
	token := r.prepared(c, res)
	_, ret := ask{token: token, surfaces: r.pair(c)}.send(c)
	require.ErrorIs(t, ret, bad)
	require.ErrorIs(t, ret, ane.ErrShort)
}

// large is a program whose input needs more than the smallest surface.
type large struct{ *exec }

func (large) Inputs() []ane.Layout {
	l, err := ane.NewLayout("in", ports(1, "x")[0].DType, 1<<20)
	if err != nil {
		panic(err)
	}
	return []ane.Layout{l}
}

func TestSequence(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	token, surfaces := r.prepared(c, r.program()), r.pair(c)
	for _, tc := range []struct {
		sequence uint32
		want     driverabi.Return
	}{{0, ok}, {0, bad}, {1, ok}, {7, ok}, {6, bad}, {math.MaxInt32, ok}, {math.MaxUint32 - 1, ok}, {math.MaxUint32,
		ok}, {math.MaxUint32, bad}, {0, ok}, {1, ok}} {
		_, ret := ask{token: token, sequence: tc.sequence, surfaces: surfaces}.send(c)
		require.Equal(t, tc.want, Code(ret), "%d", tc.sequence)
	}
}

func TestCompletionAtThePort(t *testing.T) {
	r := newRig(t)
	info, done := woken()
	c := r.opened(info)
	token, surfaces := r.prepared(c, r.program()), r.pair(c)
	for n, flags := range []uint32{0, RunInline} {
		reply, ret := ask{token: token, sequence: uint32(n), port: 77, surfaces: surfaces,
			submit: Submit{Flags: flags}}.send(c)
		require.NoError(t, ret)
		require.Equal(t, sendReply{Sequence: uint32(n), Token: token, Status: StatusAccepted}, reply)
		d := within(t, done)
		require.Equal(t, Completion{Port: 77, Sequence: uint32(n), Reply: d.Reply}, d)
		require.Equal(t, sendReply{Sequence: uint32(n), Token: token, Status: StatusFinished}, replyOf(d.Reply[:]))
		soon(t, func() bool { return r.driver.Stats().Running == 0 }, "idle")
	}
}

func TestTimeLimit(t *testing.T) { synctest.Test(t, testTimeLimit) }

func testTimeLimit(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	token, surfaces := r.prepared(c, r.program()), r.pair(c)
	limit := Submit{Timeout: uint64(20 * time.Millisecond)}

	_, ret := ask{token: token, sequence: 0, surfaces: surfaces, submit: limit}.send(c)
	require.ErrorIs(t, ret, driverabi.Timeout, "while it runs")
	require.ErrorIs(t, ret, context.DeadlineExceeded)
	within(t, begun)

	_, ret = ask{token: token, sequence: 1, port: 1, surfaces: surfaces}.send(c)
	require.NoError(t, ret)
	within(t, begun)
	_, ret = ask{token: token, sequence: 2, port: 2, surfaces: surfaces, submit: limit}.send(c)
	require.NoError(t, ret)
	_, ret = ask{token: token, sequence: 3, port: 3, surfaces: surfaces, submit: Submit{Timeout: math.MaxInt64}}.send(c)
	require.NoError(t, ret)
	d := within(t, done)
	require.Equal(t, []any{uint32(2), driverabi.Timeout}, []any{d.Sequence, Code(d.Err)},
		"while it waits, before what came earlier")
	require.ErrorIs(t, d.Err, context.DeadlineExceeded)
	let()
	require.NoError(t, within(t, done).Err)
	require.NoError(t, within(t, done).Err, "a limit that is far away")
}

// TestDeadlineReachesTheEngine: the context of a run carries the request's limit, and
// a slot that is used again forgets it.
func TestDeadlineReachesTheEngine(t *testing.T) {
	r := newRig(t)
	var limited bool
	var err error
	r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		_, limited = ctx.Deadline()
		err = ctx.Err()
		return nil
	}
	c := r.opened(privileged)
	token, surfaces := r.prepared(c, r.program()), r.pair(c)
	for n := range uint32(4) {
		_, ret := ask{token: token, sequence: n, surfaces: surfaces,
			submit: Submit{Timeout: uint64(n%2) * uint64(time.Hour)}}.send(c)
		require.NoError(t, ret)
		require.Equal(t, n%2 == 1, limited)
		require.NoError(t, err)
	}
	require.Len(t, c.requests.All(), 1, "one slot")
}

func TestBindingsAreBounded(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	r.engine.in = 2
	token := r.prepared(c, r.program())
	var list []uint32
	for range 66 {
		list = append(list, r.surface(1))
	}
	r.mapped(c, list...)
	sequence := uint32(0)
	for _, a := range list[:65] {
		for _, b := range list[:65] {
			if sequence > maxBound+20 {
				break
			}
			_, ret := ask{token: token, sequence: sequence, surfaces: []uint32{a, b, list[65]}}.send(c)
			require.NoError(t, ret)
			sequence++
		}
	}
	require.Equal(t, maxBound, r.driver.Stats().Bound)
	require.Equal(t, int32(maxBound), r.engine.bound.Load(), "evicted ones are closed")
	require.NoError(t, unmap1(c, list[65]))
	require.Zero(t, r.engine.bound.Load())
}

// TestLateTimer: the timer of an earlier request finds a slot that is used again.
func TestLateTimer(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	for _, limit := range []uint64{0, uint64(time.Hour)} {
		x.submit.Timeout = limit
		_, ret := x.send(c)
		require.NoError(t, ret)
		x.sequence++
	}
	within(t, begun)
	for _, slot := range c.requests.All() {
		slot.expire()
	}
	let()
	for range 2 {
		require.NoError(t, within(t, done).Err)
	}
}

func TestVerdicts(t *testing.T) {
	r := newRig(t)
	over := &life{request: &request{client: r.opened(privileged)}}
	over.end(context.DeadlineExceeded)
	over.end(context.Canceled)
	<-over.Done()
	require.Nil(t, over.Value(t))
	require.ErrorIs(t, over.Err(), context.DeadlineExceeded)
	for _, tc := range []struct {
		err  error
		life *life
		want driverabi.Return
	}{
		{nil, over, ok},
		{errors.New("cut short"), over, driverabi.Timeout},
		{context.Canceled, &life{}, driverabi.Aborted},
		{&ane.Error{Err: ane.ErrNotLoaded}, &life{}, driverabi.NotReady},
		{&ane.Error{Err: ane.ErrStuck}, &life{}, driverabi.Busy},
		{ane.ErrEngine, &life{}, driverabi.DeviceError},
	} {
		require.Equal(t, tc.want, Code(tc.life.verdict(tc.err)), "%v", tc.err)
	}
}
