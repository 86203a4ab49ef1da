//go:build !macrules

package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// gone waits for the broker to cut a client off.
func gone(t *testing.T, p *peer) {
	t.Helper()
	for {
		_, fds, err := p.conn.Receive(p.buf)
		fds.Close()
		if errors.Is(err, wire.ErrClosed) {
			return
		}
		require.NoError(t, err)
	}
}

func TestHelloComesFirst(t *testing.T) {
	b := startBroker(t, Config{})
	for _, k := range []wire.Kind{wire.KindEvaluate, wire.KindPing, wire.KindCompile, wire.KindStats | wire.Reply} {
		p := b.raw(alice)
		require.ErrorIs(t, p.ask(k, &wire.Empty{}, &wire.Stats{}), ane.ErrDenied)
		gone(t, p)
	}
	p := b.raw(alice)
	require.ErrorIs(t, p.ask(wire.KindHello, &wire.Hello{Version: wire.Version + 1}, &wire.HelloReply{}), ane.ErrUnavailable)
	gone(t, p)
	p = b.raw(alice)
	require.ErrorIs(t, p.greet("royal"), ane.ErrName)
	gone(t, p)
	p = b.join(alice, "")
	require.ErrorContains(t, p.greet(""), "no request")
	require.Equal(t, "restricted", p.hello.Tier)
	require.Equal(t, alice.String(), p.hello.Identity)
	require.EqualValues(t, os.Getpid(), p.hello.PID)
}

func TestSilentClientsAreCutOff(t *testing.T) {
	b := startBroker(t, Config{hello: 100 * time.Millisecond})
	p := b.raw(alice)
	gone(t, p)
}

func TestEntitlements(t *testing.T) {
	id := admission.Identity{User: 5}
	b := startBroker(t, Config{Policy: &admission.Policy{Grants: []admission.Grant{
		{User: "5", Entitlements: []string{driverabi.EntitlementBaseline}},
		{User: "1", Tiers: []driverabi.Tier{driverabi.PerUser},
			Entitlements: []string{driverabi.EntitlementBaseline, driverabi.EntitlementRealTime}},
	}}})
	deny := func(err error, key string) {
		t.Helper()
		require.ErrorIs(t, err, ane.ErrDenied)
		require.ErrorContains(t, err, key)
		var m *wire.Error
		require.ErrorAs(t, err, &m)
		require.Equal(t, key, m.Entitlement)
	}
	none := b.raw(admission.Identity{User: 6})
	deny(none.greet(driverabi.Restricted), driverabi.EntitlementBaseline)
	none = b.join(admission.Identity{User: 6}, "")
	require.Equal(t, "unrestricted", none.hello.Tier)
	m := model(t, "identity")
	_, err := none.compile(m)
	deny(err, driverabi.EntitlementBaseline)
	deny(none.ask(wire.KindLoad, &wire.Load{}, &wire.Loaded{}), driverabi.EntitlementBaseline)
	deny(none.ask(wire.KindInstance, &wire.Instance{}, &wire.Compiled{}), driverabi.EntitlementAdapterWeight)
	deny(none.ask(wire.KindPurge, &wire.Purge{Key: PurgeEverybody}, &wire.Purged{}),
		driverabi.EntitlementPurgeAllPartitions)
	require.NoError(t, none.ask(wire.KindPurge, &wire.Purge{}, &wire.Purged{}), "its own")

	p := b.join(id, "")
	require.Equal(t, "restricted", p.hello.Tier)
	c, err := p.compile(m)
	require.NoError(t, err)
	deny(p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 0}, &wire.Loaded{}), driverabi.EntitlementRealTime)
	deny(p.ask(wire.KindInstance, &wire.Instance{Program: c.Program}, &wire.Compiled{}),
		driverabi.EntitlementAdapterWeight)
	per := b.join(alice, driverabi.PerUser)
	c, err = per.compile(m)
	require.NoError(t, err)
	deny(per.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 0}, &wire.Loaded{}), driverabi.EntitlementRealTime)
}

func TestRealTimeIsServedToTheRestrictedTier(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	r, err := p.ready(model(t, "identity"), driverabi.QoSRealTime)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, p.evaluate(r, 0))
	}
}

// TestEveryRefusal sends what a client may get wrong, to a broker that goes on
// serving it.
func TestEveryRefusal(t *testing.T) {
	b := startBroker(t, Config{clients: 1, process: allowance{memory: 8 << 20}})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "add"), 21)
	require.NoError(t, err)
	idle, err := p.compile(model(t, "add"))
	require.NoError(t, err)
	small, _, err := p.surface(64)
	require.NoError(t, err)
	in, out := r.ports[0], r.ports[1]
	noFD := []int(nil)
	block := p.blocks[0]
	shared, err := block.Share()
	require.NoError(t, err)
	defer shared.Close()
	fd := int(shared.Fd())
	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	require.NoError(t, err)
	defer plain.Close()
	require.NoError(t, plain.Truncate(1<<16))
	bare, err := unix.MemfdCreate("bare", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	defer unix.Close(bare)
	require.NoError(t, unix.Ftruncate(bare, 1<<16))
	size := uint64(block.Size())

	for name, c := range map[string]struct {
		kind wire.Kind
		q    wire.Payload
		fds  []int
		want error
	}{
		"surface without memory": {wire.KindSurface, &wire.Surface{Size: 64, Token: 90}, noFD, nil},
		"surface with two":       {wire.KindSurface, &wire.Surface{Size: 64, Token: 90}, []int{fd, fd}, nil},
		"surface of nothing":     {wire.KindSurface, &wire.Surface{Size: 0, Token: 90}, []int{fd}, ane.ErrShort},
		"surface too short":      {wire.KindSurface, &wire.Surface{Size: size + 1, Token: 90}, []int{fd}, ane.ErrShort},
		"surface of a file":      {wire.KindSurface, &wire.Surface{Size: 64, Token: 90}, []int{int(plain.Fd())}, nil},
		"surface not sealed":     {wire.KindSurface, &wire.Surface{Size: 64, Token: 90}, []int{bare}, nil},
		"surface that cannot be had": {wire.KindSurface, &wire.Surface{Size: 1 << 24, Token: 90}, []int{fd},
			ane.ErrExhausted},
		"surface token taken": {wire.KindSurface, &wire.Surface{Size: 64, Token: in[0].Surface}, []int{fd},
			ane.ErrInUse},
		"drop of nothing":    {wire.KindDrop, &wire.Drop{Token: 99}, noFD, ane.ErrForeign},
		"drop in use":        {wire.KindDrop, &wire.Drop{Token: in[0].Surface}, noFD, ane.ErrInUse},
		"load of nothing":    {wire.KindLoad, &wire.Load{Program: 99}, noFD, ane.ErrForeign},
		"load twice":         {wire.KindLoad, &wire.Load{Program: r.program, QoS: 21}, noFD, ane.ErrInUse},
		"unload of nothing":  {wire.KindUnload, &wire.Unload{Program: 99}, noFD, ane.ErrForeign},
		"unload before load": {wire.KindUnload, &wire.Unload{Program: idle.Program}, noFD, ane.ErrNotLoaded},
		"release of nothing": {wire.KindRelease, &wire.Release{Program: 99}, noFD, ane.ErrForeign},
		"release in use":     {wire.KindRelease, &wire.Release{Program: r.program}, noFD, ane.ErrInUse},
		"unbind of nothing":  {wire.KindUnbind, &wire.Unbind{Request: 99}, noFD, ane.ErrForeign},
		"evaluate nothing":   {wire.KindEvaluate, &wire.Evaluate{Request: 99}, noFD, ane.ErrForeign},
		"evaluate another's": {wire.KindEvaluate, &wire.Evaluate{Request: r.program}, noFD, ane.ErrForeign},
		"deadline of no clock": {wire.KindEvaluate, &wire.Evaluate{Request: r.request, Deadline: 1 << 63}, noFD,
			ane.ErrLength},
		"chain of nothing":    {wire.KindChain, &wire.Chain{}, noFD, ane.ErrLength},
		"chain of no request": {wire.KindChain, &wire.Chain{Steps: []wire.Step{{Request: 99}}}, noFD, ane.ErrForeign},
		"chain of no clock": {wire.KindChain,
			&wire.Chain{Deadline: 1 << 63, Steps: []wire.Step{{Request: r.request}}}, noFD, ane.ErrLength},
		"bind nothing": {wire.KindBind, &wire.Bind{Program: 99}, noFD, ane.ErrForeign},
		"bind too few": {wire.KindBind, &wire.Bind{Program: r.program, In: in[:1], Out: out}, noFD,
			ane.ErrMismatch},
		"bind too many": {wire.KindBind, &wire.Bind{Program: r.program, In: append(in[:2:2], in[0]), Out: out},
			noFD, ane.ErrMismatch},
		"bind no surface": {wire.KindBind,
			&wire.Bind{Program: r.program, In: []wire.Port{in[0], {Surface: 99}}, Out: out}, noFD, ane.ErrForeign},
		"bind at an offset": {wire.KindBind, &wire.Bind{Program: r.program,
			In: []wire.Port{in[0], {Surface: in[1].Surface, Offset: 64}}, Out: out}, noFD, ane.ErrOffset},
		"bind output on input": {wire.KindBind, &wire.Bind{Program: r.program, In: in, Out: in[:1]}, noFD,
			ane.ErrAlias},
		"answer":                  {wire.KindBind | wire.Reply, &wire.Bound{}, noFD, nil},
		"payload of another kind": {wire.KindBind, &wire.Cancel{}, noFD, nil},
		"long payload":            {wire.KindPing, &wire.Compiled{Notes: manyNotes()}, noFD, nil},
		"descriptors beside":      {wire.KindUnbind, &wire.Unbind{Request: 99}, []int{fd, fd, fd}, ane.ErrForeign},
	} {
		before := len(files())
		err := p.ask(c.kind, c.q, &wire.Empty{}, c.fds...)
		require.Error(t, err, name)
		require.NotErrorIs(t, err, wire.ErrClosed, name)
		var e *ane.Error
		require.ErrorAs(t, err, &e, name)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, name)
			require.NotEmpty(t, e.Hint, name)
		}
		eventually(t, name+": descriptors", func() bool { return len(files()) <= before })
	}
	require.NoError(t, p.evaluate(r, 0))
	_ = small
	err = p.ask(wire.KindBind, &wire.Bind{Program: r.program, In: []wire.Port{in[0], {Surface: small}}, Out: out},
		&wire.Bound{})
	require.NoError(t, err, "a page is enough for this program")
}

func manyNotes() []string {
	notes := make([]string, 100)
	for i := range notes {
		notes[i] = string(make([]byte, 1000))
	}
	return notes
}

// TestTwoTokensOfOneMemory cannot be used to alias an output.
func TestTwoTokensOfOneMemory(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	f, err := r.in[0].Block().Share()
	require.NoError(t, err)
	defer f.Close()
	var reply wire.Empty
	require.NoError(t, p.ask(wire.KindSurface, &wire.Surface{Size: uint64(r.in[0].Block().Size()), Token: 77}, &reply,
		int(f.Fd())))
	err = p.ask(wire.KindBind, &wire.Bind{Program: r.program, In: r.ports[0], Out: []wire.Port{{Surface: 77}}},
		&wire.Bound{})
	require.ErrorIs(t, err, ane.ErrAlias)
}

// TestHandlesOfOthers are numbers that mean nothing, or something of one's own.
func TestHandlesOfOthers(t *testing.T) {
	b := startBroker(t, Config{})
	p, q := b.join(alice, ""), b.join(alice, "")
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	for h := range uint32(20) {
		require.ErrorIs(t, q.ask(wire.KindEvaluate, &wire.Evaluate{Request: h}, &wire.Done{}), ane.ErrForeign)
		require.ErrorIs(t, q.ask(wire.KindRelease, &wire.Release{Program: h}, &wire.Empty{}), ane.ErrForeign)
		require.ErrorIs(t, q.ask(wire.KindDrop, &wire.Drop{Token: h}, &wire.Empty{}), ane.ErrForeign)
	}
	require.NoError(t, p.evaluate(r, 0))
}

func TestLimits(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	m := model(t, "identity")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	f, err := r.in[0].Block().Share()
	require.NoError(t, err)
	defer f.Close()
	have := uint32(len(r.ports[0]) + len(r.ports[1]))
	for i := have; i < resources.MaxSurfaces; i++ {
		require.NoError(t, p.ask(wire.KindSurface, &wire.Surface{Size: 64, Token: 1000 + i}, &wire.Empty{},
			int(f.Fd())))
	}
	require.ErrorIs(t, p.ask(wire.KindSurface, &wire.Surface{Size: 64, Token: 1}, &wire.Empty{}, int(f.Fd())),
		ane.ErrInUse)
	require.ErrorIs(t, p.ask(wire.KindSurface, &wire.Surface{Size: 64, Token: 1 << 30}, &wire.Empty{},
		int(f.Fd())), ane.ErrExhausted)
	for i := 1; i < resources.MaxPrograms; i++ {
		_, err := p.compile(m)
		require.NoError(t, err)
	}
	_, err = p.compile(m)
	require.ErrorIs(t, err, ane.ErrExhausted)
	for i := 1; i < resources.MaxRequests; i++ {
		require.NoError(t, p.ask(wire.KindBind, &wire.Bind{Program: r.program, In: r.ports[0], Out: r.ports[1]},
			&wire.Bound{}))
	}
	require.ErrorIs(t, p.ask(wire.KindBind, &wire.Bind{Program: r.program, In: r.ports[0], Out: r.ports[1]},
		&wire.Bound{}), ane.ErrExhausted)
	require.NoError(t, p.evaluate(r, 0))
	require.NoError(t, p.ask(wire.KindDrop, &wire.Drop{Token: 1500}, &wire.Empty{}))
	require.NoError(t, p.ask(wire.KindSurface, &wire.Surface{Size: 64, Token: 1 << 30}, &wire.Empty{},
		int(f.Fd())))
	require.EqualValues(t, resources.MaxSurfaces, p.counter(t, "own surfaces"))
}

// TestTooManyPorts has a program whose tensors the mapper does not take.
func TestTooManyPorts(t *testing.T) {
	build := mil.NewBuilder()
	fn := build.Func("main")
	shape := mil.TensorOf(mil.FP16, 1, 1, 1, 32)
	sum := fn.Input("x0", mil.FP16, 1, 1, 1, 32)
	for i := 1; i < driverabi.MaxSurfaces; i++ {
		sum = fn.Op("add", shape, "s"+string(rune('a'+i/26))+string(rune('a'+i%26)), mil.A("x", sum),
			mil.A("y", fn.Input("x"+string(rune('a'+i/26))+string(rune('a'+i%26)), mil.FP16, 1, 1, 1, 32)))
	}
	fn.Output(sum)
	prog, err := build.Program()
	require.NoError(t, err)
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	_, err = p.ready(models.Model{Name: "many", Text: mil.Print(prog)}, 21)
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "129 surfaces")
}

// TestBytesOfSurfacesComeBack: a surface is charged with its size while it is registered.
func TestBytesOfSurfacesComeBack(t *testing.T) {
	b := startBroker(t, Config{clients: 1, process: allowance{memory: 1 << 20}})
	p := b.join(alice, "")
	for range 5 {
		token, _, err := p.surface(600 << 10)
		require.NoError(t, err)
		_, _, err = p.surface(600 << 10)
		require.ErrorIs(t, err, ane.ErrExhausted)
		require.NoError(t, p.ask(wire.KindDrop, &wire.Drop{Token: token}, &wire.Empty{}))
	}
	require.Zero(t, p.counter(t, "own bytes of memory"))
}

func TestTooManyClients(t *testing.T) {
	b := startBroker(t, Config{})
	var all []*peer
	for range MaxClients {
		all = append(all, b.join(alice, ""))
	}
	p := b.raw(alice)
	require.ErrorIs(t, p.greet(""), ane.ErrExhausted)
	gone(t, p)
	all[0].close()
	eventually(t, "room", func() bool { return b.raw(alice).greet("") == nil })
}

func TestOnlyRefusedFramesEndIt(t *testing.T) {
	b := startBroker(t, Config{})
	p, q := b.join(alice, ""), b.join(alice, "")
	go func() {
		for {
			if _, err := p.post(wire.KindUnbind, &wire.Unbind{}); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, wire.MaxFrame)
	n := 0
	for {
		_, _, err := p.conn.Receive(buf)
		if errors.Is(err, wire.ErrClosed) {
			break
		}
		n++
	}
	require.LessOrEqual(t, n, MaxTroubles)
	require.NoError(t, q.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
}

// TestSlowReaderIsCutOff sends requests and never reads; the broker serves other clients at the same time.
func TestSlowReaderIsCutOff(t *testing.T) {
	b := startBroker(t, Config{write: 10 * time.Millisecond})
	p, q := b.join(alice, ""), b.join(alice, "")
	r, err := q.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		for {
			if _, err := p.post(wire.KindStats, &wire.Empty{}); err != nil {
				return
			}
		}
	}()
	for over := false; !over; {
		require.NoError(t, q.evaluate(r, 0))
		select {
		case <-lost:
			over = true
		default:
		}
	}
	require.NoError(t, q.evaluate(r, 0))
	eventually(t, "the client is gone", func() bool { return q.counter(t, "clients") == 1 })
}

// TestSealedMemoryStays: memory whose sharer may not be trusted cannot be cut short.
func TestSealedMemoryStays(t *testing.T) {
	b, err := unimem.Open(1 << 16)
	require.NoError(t, err)
	defer b.Close()
	f, err := b.Share()
	require.NoError(t, err)
	defer f.Close()
	require.Error(t, f.Truncate(0))
}
