//go:build !macrules

package broker

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// fate is what a fake broker does with a frame.
type fate int

const (
	work   fate = iota // what a broker does
	die                // end the connection without an answer
	freeze             // answer when the fake is thawed or the connection ends
	babble             // answer with bytes that are no frame's payload
	other              // answer as if something else had been asked
	stray              // answer a request that was not made
	refuse             // answer with a Fault
)

// fake is a broker for clients' tests, in this process, that misbehaves when it is
// told to. It is no more than the frames' meaning.
type fake struct {
	path   string
	thaw   chan struct{} // closed to answer what was frozen
	deaf   bool          // it answers no bell
	frozen atomic.Bool   // it has met a frame that it answers when it is thawed

	mu     sync.Mutex
	fate   func(k wire.Kind) fate
	hello  func(*wire.HelloReply)
	seen   map[wire.Kind]int
	open   []*wire.Conn
	active sync.WaitGroup
}

// newFake starts a fake that listens until the test ends.
func newFake(t *testing.T) *fake {
	f := &fake{path: filepath.Join(t.TempDir(), "s"), thaw: make(chan struct{}), seen: map[wire.Kind]int{}}
	f.listen(t)
	return f
}

func (f *fake) listen(t *testing.T) (stop func()) {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: f.path, Net: "unixpacket"})
	require.NoError(t, err)
	f.active.Go(func() {
		for {
			u, err := l.AcceptUnix()
			if err != nil {
				return
			}
			c, err := wire.FromUnix(u)
			if err != nil {
				return
			}
			f.mu.Lock()
			f.open = append(f.open, c)
			f.mu.Unlock()
			f.active.Go(func() { f.serve(c) })
		}
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			l.Close()
			f.cut()
			f.active.Wait()
		})
	}
	t.Cleanup(stop)
	return stop
}

// cut ends all connections, as the end of a broker does.
func (f *fake) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.open {
		_ = c.Close()
	}
	f.open = nil
}

// on has every frame of kind k meet a fate.
func (f *fake) on(k wire.Kind, what fate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fate = func(got wire.Kind) fate {
		if got == k {
			return what
		}
		return work
	}
}

func (f *fake) count(k wire.Kind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[k]
}

// client is one connection of a fake.
type client struct {
	*fake
	conn     *wire.Conn
	bell     *wire.Bell
	ringer   sync.WaitGroup
	turn     sync.Mutex // held while a frame is answered
	engine   ane.Engine
	blocks   map[uint32]*unimem.Block
	dropped  []*unimem.Block
	programs map[uint32]ane.Executable
	requests map[uint32]ane.Invocation
	flying   map[uint64]context.CancelFunc
	last     uint32
	over     chan struct{}
}

func (f *fake) serve(conn *wire.Conn) {
	c := &client{fake: f, conn: conn, engine: soft.New(), blocks: map[uint32]*unimem.Block{},
		programs: map[uint32]ane.Executable{},
		requests: map[uint32]ane.Invocation{}, flying: map[uint64]context.CancelFunc{}, over: make(chan struct{})}
	defer c.end()
	buf := make([]byte, wire.MaxFrame)
	for {
		frame, fds, err := conn.Receive(buf)
		if err != nil || !c.meet(frame, fds) {
			return
		}
	}
}

// ring serves the bell until the connection ends.
func (c *client) ring() {
	buf := make([]byte, wire.MaxFrame)
	for {
		frame, err := c.bell.Receive(buf, time.Minute)
		switch {
		case errors.Is(err, wire.ErrTimeout): // or taken back
		case err != nil || !c.meet(frame, nil):
			_ = c.conn.Close()
			return
		}
	}
}

// meet lets a frame have its fate, and reports whether the connection goes on.
func (c *client) meet(frame wire.Frame, fds wire.Descriptors) bool {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	c.seen[frame.Kind]++
	what := work
	if c.fate != nil {
		what = c.fate(frame.Kind)
	}
	c.mu.Unlock()
	if what == die {
		fds.Close()
		return false
	}
	return c.handle(frame, fds, what)
}

// send answers by what the question came by.
func (c *client) send(f wire.Frame) error {
	if f.ID&wire.BellID != 0 {
		return c.bell.Send(f)
	}
	return c.conn.Send(f)
}

// handle answers one frame.
func (c *client) handle(frame wire.Frame, fds wire.Descriptors, what fate) bool {
	reply := wire.Frame{Kind: frame.Kind | wire.Reply, ID: frame.ID}
	switch what {
	case babble:
		reply.Payload = []byte{0xff, 1, 2}
		fds.Close()
		return c.send(reply) == nil
	case other:
		reply.Kind = wire.KindPing | wire.Reply
		fds.Close()
		return c.send(reply) == nil
	case stray:
		reply.ID += 1 << 32
		fds.Close()
		return c.send(reply) == nil
	case freeze:
		c.frozen.Store(true)
		<-c.thaw
	case refuse:
		fault := wire.NewFault(&ane.Error{Op: "test", Err: ane.ErrExhausted, Hint: "try less"})
		fds.Close()
		return c.send(wire.Frame{Kind: wire.KindFault, ID: frame.ID, Payload: wire.Append(nil, &fault)}) == nil
	}
	p, err := c.answer(frame, fds)
	fds.Close()
	switch {
	case err != nil:
		fault := wire.NewFault(err)
		reply.Kind, reply.Payload = wire.KindFault, wire.Append(nil, &fault)
	case p == nil:
		return true // answered by a goroutine
	default:
		reply.Payload = wire.Append(nil, p)
	}
	return c.send(reply) == nil
}

type weights map[string][]byte

// ReadFile implements ane.Weights.
func (w weights) ReadFile(path string) ([]byte, error) {
	if b, ok := w[path]; ok {
		return b, nil
	}
	return nil, os.ErrNotExist
}

var errFake = errors.New("the client has a fault")

func (c *client) answer(frame wire.Frame, fds wire.Descriptors) (wire.Payload, error) {
	ctx := context.Background()
	switch frame.Kind {
	case wire.KindHello:
		i := c.engine.Info()
		reply := &wire.HelloReply{Version: wire.Version, PID: uint32(os.Getpid()), Chip: i.Chip,
			OSBuild: i.OSBuild, Numerics: i.Numerics, Queued: 127}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(fds) == 1 && !c.deaf {
			bell, err := wire.OpenBell(fds[0])
			if err != nil {
				return nil, err
			}
			c.bell, reply.Bell = bell, true
			c.ringer.Go(c.ring)
		}
		if c.hello != nil {
			c.hello(reply)
		}
		return reply, nil
	case wire.KindSurface:
		var p wire.Surface
		if err := wire.Parse(frame.Payload, &p); err != nil || len(fds) != 1 || c.blocks[p.Token] != nil {
			return nil, errors.Join(errFake, err)
		}
		f := os.NewFile(uintptr(fds[0]), "surface")
		fds[0] = -1 // f's now
		defer f.Close()
		b, err := unimem.Adopt(f, int(p.Size))
		if err != nil {
			return nil, err
		}
		c.blocks[p.Token] = b
		return &wire.Empty{}, nil
	case wire.KindDrop:
		var p wire.Drop
		if err := wire.Parse(frame.Payload, &p); err != nil || c.blocks[p.Token] == nil {
			return nil, errors.Join(errFake, err)
		}
		b := c.blocks[p.Token]
		delete(c.blocks, p.Token)
		if b.Close() != nil { // a request is bound to it
			c.dropped = append(c.dropped, b)
		}
		return &wire.Empty{}, nil
	case wire.KindCompile:
		return c.compile(ctx, frame, fds)
	case wire.KindLoad:
		var p wire.Load
		if err := wire.Parse(frame.Payload, &p); err != nil || c.programs[p.Program] == nil {
			return nil, errors.Join(errFake, err)
		}
		return &wire.Loaded{Program: p.Program}, c.programs[p.Program].Load(ctx)
	case wire.KindUnload:
		var p wire.Unload
		if err := wire.Parse(frame.Payload, &p); err != nil || c.programs[p.Program] == nil {
			return nil, errors.Join(errFake, err)
		}
		return &wire.Empty{}, c.programs[p.Program].Unload(ctx)
	case wire.KindRelease:
		var p wire.Release
		if err := wire.Parse(frame.Payload, &p); err != nil || c.programs[p.Program] == nil {
			return nil, errors.Join(errFake, err)
		}
		x := c.programs[p.Program]
		delete(c.programs, p.Program)
		return &wire.Empty{}, errors.Join(x.Unload(ctx), x.Close())
	case wire.KindBind:
		return c.bind(frame)
	case wire.KindUnbind:
		var p wire.Unbind
		if err := wire.Parse(frame.Payload, &p); err != nil || c.requests[p.Request] == nil {
			return nil, errors.Join(errFake, err)
		}
		v := c.requests[p.Request]
		delete(c.requests, p.Request)
		return &wire.Empty{}, v.Close()
	case wire.KindEvaluate:
		return nil, c.evaluate(frame)
	case wire.KindCancel:
		var p wire.Cancel
		if err := wire.Parse(frame.Payload, &p); err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if cancel := c.flying[p.Sequence]; cancel != nil {
			cancel()
		}
		return &wire.Cancelled{Sequence: p.Sequence}, nil
	}
	return nil, errFake
}

func (c *client) compile(ctx context.Context, frame wire.Frame, fds wire.Descriptors) (wire.Payload, error) {
	var p wire.Compile
	if err := wire.Parse(frame.Payload, &p); err != nil || len(fds) == 0 {
		return nil, errors.Join(errFake, err)
	}
	text, err := wire.ReadSealed(fds[0], 1<<30)
	if err != nil {
		return nil, err
	}
	w := weights{}
	for _, f := range p.Weights {
		all, err := wire.ReadSealed(fds[f.Descriptor], 1<<30)
		if err != nil {
			return nil, err
		}
		w[f.Name] = all[f.Offset:][:f.Size]
	}
	x, err := c.engine.Compile(ctx, ane.Source{File: p.File, Function: p.Function, Text: text[:p.TextSize], Weights: w})
	if err != nil {
		return nil, err
	}
	c.last++
	c.programs[c.last] = x
	return &wire.Compiled{Program: c.last, In: x.Inputs(), Out: x.Outputs(), Notes: x.Notes()}, nil
}

func (c *client) bind(frame wire.Frame) (wire.Payload, error) {
	var p wire.Bind
	if err := wire.Parse(frame.Payload, &p); err != nil || c.programs[p.Program] == nil {
		return nil, errors.Join(errFake, err)
	}
	x := c.programs[p.Program]
	reply := &wire.Bound{}
	tensors := func(ports []wire.Port, layouts []ane.Layout) (all []*ane.Tensor, err error) {
		for i, q := range ports {
			t, err := ane.OnBlock(c.blocks[q.Surface], layouts[i])
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, nil
	}
	in, err := tensors(p.In, x.Inputs())
	if err != nil {
		return nil, err
	}
	out, err := tensors(p.Out, x.Outputs())
	if err != nil {
		return nil, err
	}
	v, err := x.Prepare(in, out)
	if err != nil {
		return nil, err
	}
	c.last++
	c.requests[c.last] = v
	reply.Request = c.last
	return reply, nil
}

// evaluate runs in a goroutine, so that Cancel is read.
func (c *client) evaluate(frame wire.Frame) error {
	var p wire.Evaluate
	if err := wire.Parse(frame.Payload, &p); err != nil || c.requests[p.Request] == nil {
		return errors.Join(errFake, err)
	}
	v, id := c.requests[p.Request], frame.ID
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	c.flying[p.Sequence] = cancel
	c.mu.Unlock()
	c.active.Go(func() {
		err := v.Evaluate(ctx)
		c.mu.Lock()
		delete(c.flying, p.Sequence)
		c.mu.Unlock()
		cancel()
		if err != nil {
			fault := wire.NewFault(err)
			_ = c.send(wire.Frame{Kind: wire.KindFault, ID: id, Payload: wire.Append(nil, &fault)})
			return
		}
		done := wire.Done{Sequence: p.Sequence}
		_ = c.send(wire.Frame{Kind: wire.KindEvaluate | wire.Reply, ID: id, Payload: wire.Append(nil, &done)})
	})
	return nil
}

// end gives everything back.
func (c *client) end() {
	_ = c.conn.Close()
	_ = c.bell.Close()
	c.ringer.Wait()
	for {
		c.mu.Lock()
		n := len(c.flying)
		for _, cancel := range c.flying {
			cancel()
		}
		c.mu.Unlock()
		if n == 0 {
			break
		}
	}
	for _, v := range c.requests {
		_ = v.Close()
	}
	for _, x := range c.programs {
		_ = x.Unload(context.Background())
		_ = x.Close()
	}
	_ = c.engine.Close()
	for _, b := range c.blocks {
		c.dropped = append(c.dropped, b)
	}
	for _, b := range c.dropped {
		_ = b.Close()
	}
}
