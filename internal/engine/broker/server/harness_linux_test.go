//go:build !macrules

package server

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// broker is a server whose clients the test makes.
type broker struct {
	*server
	t    *testing.T
	work sync.WaitGroup
}

// patient gives a busy machine time, unless the test is about the time.
func patient(c Config) Config {
	c.hello, c.write, c.end = cmp.Or(c.hello, await.Patience), cmp.Or(c.write, await.Patience), cmp.Or(c.end,
		await.Patience)
	return c
}

// startBroker runs a server without a listener; it has to end cleanly.
func startBroker(t *testing.T, c Config) *broker {
	t.Helper()
	s, err := newServer(patient(c).settled(admission.OwnerPolicy()))
	require.NoError(t, err)
	b := &broker{server: s, t: t}
	t.Cleanup(func() {
		b.disconnect()
		b.work.Wait()
		require.Zero(t, b.live.Count(), "programs are left")
		for _, one := range b.budgets.Now() {
			require.Zero(t, one.Used, one.What)
		}
		st := b.driver.Stats()
		require.Zero(t, st.Clients+st.Resources+st.Resident+st.Mapped+st.Bound+st.Instances,
			"%+v", st)
		require.NoError(t, b.close())
	})
	return b
}

var (
	alice = admission.Identity{User: 1, Executable: [32]byte{1}}
	mary  = admission.Identity{User: 1, Executable: [32]byte{2}}
)

// raw connects a client of an identity that has not said hello.
func (b *broker) raw(id admission.Identity) *peer {
	b.t.Helper()
	here, there := wiretest.Pair(b.t)
	b.work.Go(func() {
		if err := newSession(b.server, there, id, admission.Process{PID: os.Getpid()}).run(); err != nil {
			b.t.Error(err)
		}
	})
	p := newPeer(here)
	b.t.Cleanup(p.close)
	return p
}

// join connects a client that is admitted to a tier.
func (b *broker) join(id admission.Identity, tier driverabi.Tier) *peer {
	b.t.Helper()
	p := b.raw(id)
	require.NoError(b.t, p.greet(tier))
	return p
}

// peer is a client that says what the test wants, right or wrong. One goroutine at a
// time uses it.
type peer struct {
	conn   *wire.Conn
	id     uint64
	buf    []byte
	hello  wire.HelloReply
	early  map[uint64]answer // of frames that no call has waited for yet
	blocks []*unimem.Block
	token  uint32
}

type answer struct {
	kind wire.Kind
	body []byte
}

func newPeer(c *wire.Conn) *peer {
	return &peer{conn: c, buf: make([]byte, wire.MaxFrame), early: map[uint64]answer{}}
}

func (p *peer) close() {
	_ = p.conn.Close()
	for _, b := range p.blocks {
		_ = b.Close()
	}
	p.blocks = nil
}

// post sends a frame and returns its number.
func (p *peer) post(k wire.Kind, q wire.Payload, fds ...int) (uint64, error) {
	p.id++
	return p.id, p.conn.Send(wire.Frame{Kind: k, ID: p.id, Payload: wire.Append(nil, q)}, fds...)
}

// read waits for the answer to a frame.
func (p *peer) read(id uint64, reply wire.Payload) error {
	for {
		if a, ok := p.early[id]; ok {
			delete(p.early, id)
			if a.kind == wire.KindFault {
				var f wire.Fault
				if err := wire.Parse(a.body, &f); err != nil {
					return err
				}
				return f.Err()
			}
			return wire.Parse(a.body, reply)
		}
		f, fds, err := p.conn.Receive(p.buf)
		fds.Close()
		if err != nil {
			return err
		}
		if _, twice := p.early[f.ID]; twice {
			return errors.New("answered twice")
		}
		p.early[f.ID] = answer{f.Kind, append([]byte(nil), f.Payload...)}
	}
}

// ask sends a frame and waits for its answer.
func (p *peer) ask(k wire.Kind, q, reply wire.Payload, fds ...int) error {
	id, err := p.post(k, q, fds...)
	if err != nil {
		return err
	}
	return p.read(id, reply)
}

func (p *peer) greet(tier driverabi.Tier) error {
	return p.ask(wire.KindHello, &wire.Hello{Version: wire.Version, Tier: string(tier), Executable: "test"}, &p.hello)
}

// compile sends a program.
func (p *peer) compile(m models.Model) (wire.Compiled, error) {
	var c wire.Compiled
	q := wire.Compile{File: m.Name, TextSize: uint64(len(m.Text))}
	parts := [][]byte{m.Text}
	at := uint64(len(m.Text))
	for name, data := range m.Weights {
		q.Weights = append(q.Weights, wire.Weight{Name: name, Offset: at, Size: uint64(len(data))})
		parts = append(parts, data)
		at += uint64(len(data))
	}
	f, err := wire.Seal("program", parts...)
	if err != nil {
		return c, err
	}
	defer f.Close()
	return c, p.ask(wire.KindCompile, &q, &c, int(f.Fd()))
}

// surface registers memory of a size and returns its token.
func (p *peer) surface(size int) (uint32, *unimem.Block, error) {
	b, err := unimem.Open(size)
	if err != nil {
		return 0, nil, err
	}
	p.blocks = append(p.blocks, b)
	f, err := b.Share()
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	p.token++
	var r wire.Empty
	return p.token, b, p.ask(wire.KindSurface, &wire.Surface{ID: b.ID(), Size: uint64(b.Size()), Token: p.token}, &r,
		int(f.Fd()))
}

// run is a program, loaded and bound.
type run struct {
	program, request uint32
	in, out          []*ane.Tensor
	ports            [2][]wire.Port
}

// ready compiles, loads and binds a program.
func (p *peer) ready(m models.Model, qos uint32) (*run, error) {
	c, err := p.compile(m)
	if err != nil {
		return nil, err
	}
	var l wire.Loaded
	if err := p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: qos}, &l); err != nil {
		return nil, err
	}
	return p.tie(c)
}

// tie binds new surfaces to a program that is loaded.
func (p *peer) tie(c wire.Compiled) (*run, error) {
	r := &run{program: c.Program}
	for i, list := range [][]ane.Layout{c.In, c.Out} {
		for _, l := range list {
			token, b, err := p.surface(l.Bytes())
			if err != nil {
				return nil, err
			}
			t, err := ane.OnBlock(b, l)
			if err != nil {
				return nil, err
			}
			r.ports[i] = append(r.ports[i], wire.Port{Surface: token})
			if i == 0 {
				r.in = append(r.in, t)
			} else {
				r.out = append(r.out, t)
			}
		}
	}
	var bound wire.Bound
	err := p.ask(wire.KindBind, &wire.Bind{Program: c.Program, In: r.ports[0], Out: r.ports[1]}, &bound)
	r.request = bound.Request
	return r, err
}

// evaluate runs a request once.
func (p *peer) evaluate(r *run, qos uint32) error {
	var d wire.Done
	return p.ask(wire.KindEvaluate, &wire.Evaluate{Request: r.request, QoS: qos, Sequence: p.id + 1}, &d)
}

// model is a ready program by its name.
func model(t testing.TB, name string) models.Model {
	t.Helper()
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	t.Fatal("no model ", name)
	return models.Model{}
}

// slow is the software engine with a door before every run.
type slow struct {
	ane.Engine
	door func(ctx context.Context) error
}

type slowExec struct {
	ane.Executable
	door func(ctx context.Context) error
}

type slowRun struct {
	ane.Invocation
	door func(ctx context.Context) error
}

func (s slow) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := s.Engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return slowExec{x, s.door}, nil
}

func (s slowExec) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := s.Executable.Prepare(in, out)
	if err != nil {
		return nil, err
	}
	return slowRun{v, s.door}, nil
}

func (s slowRun) Evaluate(ctx context.Context) error {
	if err := s.door(ctx); err != nil {
		return err
	}
	return s.Invocation.Evaluate(ctx)
}

// doors is an engine whose runs wait until the test opens the door, or their context
// ends.
func doors(open <-chan struct{}) func() ane.Engine {
	return func() ane.Engine {
		return slow{soft.New(), func(ctx context.Context) error {
			select {
			case <-open:
				return nil
			case <-ctx.Done():
				return ane.Deadline("evaluate", "slow", ctx.Err())
			}
		}}
	}
}

// socket is a path for a listener in a folder that Listen makes.
func socket(t *testing.T) string { return filepath.Join(t.TempDir(), "anekit", "broker.sock") }

// listen runs Serve on a new socket until the test ends.
func listen(t *testing.T, c Config) string {
	t.Helper()
	path := socket(t)
	l, err := shared.Listen(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, patient(c)) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Empty(t, left)
	})
	return path
}

// dial connects to a socket and says hello.
func dial(t *testing.T, path string) *peer {
	t.Helper()
	p := quiet(t, path)
	require.NoError(t, p.greet(""))
	return p
}

// quiet connects to a socket, as soon as its backlog has room, and says nothing.
func quiet(t *testing.T, path string) *peer {
	t.Helper()
	var conn *wire.Conn
	eventually(t, "the broker accepts", func() (ok bool) {
		var err error
		conn, err = wiretest.Dial(path)
		if !errors.Is(err, unix.EAGAIN) {
			require.NoError(t, err)
		}
		return err == nil
	})
	p := newPeer(conn)
	t.Cleanup(p.close)
	return p
}

// eventually waits for what other goroutines are about to do.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	await.Until(t, what, f)
}

// newRawEvaluate returns a round trip that uses no memory of its own.
func newRawEvaluate(p *peer, r *run) func() error {
	body := make([]byte, 0, 64)
	var d wire.Done
	q := wire.Evaluate{Request: r.request}
	return func() error {
		p.id++
		q.Sequence = p.id
		body = wire.Append(body[:0], &q)
		if err := p.conn.Send(wire.Frame{Kind: wire.KindEvaluate, ID: p.id, Payload: body}); err != nil {
			return err
		}
		f, _, err := p.conn.Receive(p.buf)
		if err != nil {
			return err
		}
		if f.Kind != wire.KindEvaluate|wire.Reply || f.ID != p.id {
			return errors.New("another answer: " + f.Kind.String())
		}
		return wire.Parse(f.Payload, &d)
	}
}
