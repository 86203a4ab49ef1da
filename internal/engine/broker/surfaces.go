package broker

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

type block = unimem.Block

// surfaces are the Blocks that one broker knows: each is sent to it once, when
// it is bound for the first time, and forgotten when it is closed.
type surfaces struct {
	mu   sync.Mutex
	open map[*block]*surface
	last uint32 // token given out last
	over bool
}

// surface is a Block that the broker knows, or that is being sent.
type surface struct {
	token  uint32
	users  int           // requests that are or may be bound to it at the broker
	gone   bool          // closed here, to be dropped with its last user
	ready  chan struct{} // closed when it is known, or failed
	failed bool
	cancel func() bool // of what happens at the Block's Close
}

// attach makes a Block known and counts one more request on it; release follows.
func (s *session) attach(ctx context.Context, b *block) (*surface, error) {
	for {
		f, first := s.surfaces.find(b)
		if !first {
			select {
			case <-f.ready:
			case <-ctx.Done():
				s.release(f)
				return nil, context.Cause(ctx)
			}
			if f.failed {
				continue // for a reason of the other caller's, maybe
			}
			return f, nil
		}
		err := s.introduce(ctx, b, f)
		if errors.Is(err, ane.ErrExhausted) && s.evict() {
			err = s.introduce(ctx, b, f)
		}
		if err != nil {
			s.surfaces.remove(b, f)
		}
		f.failed = err != nil
		close(f.ready)
		return f, err
	}
}

// find returns the surface of b with one more user; first tells that it was not
// there before.
func (t *surfaces) find(b *block) (f *surface, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f = t.open[b]; f == nil {
		t.last++
		f, first = &surface{token: t.last, ready: make(chan struct{})}, true
		t.open[b] = f
	}
	f.users++
	return f, first
}

// release counts one request less, whose Unbind was sent.
func (s *session) release(f *surface) {
	s.surfaces.mu.Lock()
	f.users--
	drop := f.gone && f.users == 0
	s.surfaces.mu.Unlock()
	if drop {
		s.drop(f)
	}
}

// drop has the broker forget a surface that nothing is bound to.
func (s *session) drop(f *surface) { s.post(wire.KindDrop, &wire.Drop{Token: f.token}) }

// blockClosed forgets a Block that closes. A request may outlive that at the
// broker, if its caller has stopped waiting.
func (s *session) blockClosed(b *block, f *surface) {
	s.surfaces.mu.Lock()
	known := s.surfaces.open[b] == f
	if known {
		delete(s.surfaces.open, b)
		f.gone = true
	}
	drop := known && f.users == 0
	s.surfaces.mu.Unlock()
	if drop {
		s.drop(f)
	}
}

// remove forgets f, which the broker does not know.
func (t *surfaces) remove(b *block, f *surface) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[b] == f {
		delete(t.open, b)
	}
}

// introduce sends the descriptor of b.
func (s *session) introduce(ctx context.Context, b *block, f *surface) error {
	file, err := b.Share()
	if err != nil {
		return &ane.Error{Op: "bind", Engine: Name, Err: err}
	}
	defer file.Close()
	request := wire.Surface{ID: b.ID(), Size: uint64(b.Size()), Token: f.token}
	late := func(c *call) {
		if c.answer(wire.KindSurface, &wire.SurfaceReply{}) == nil {
			s.drop(f)
		}
	}
	if err := s.ask(ctx, wire.KindSurface, &request, &wire.SurfaceReply{}, late, int(file.Fd())); err != nil {
		return err
	}
	cancel, err := b.AtClose(func() { s.blockClosed(b, f) })
	if err != nil {
		s.drop(f)
		return &ane.Error{Op: "bind", Engine: Name, Err: ane.Because(ane.ErrStale, err)}
	}
	s.surfaces.mu.Lock()
	defer s.surfaces.mu.Unlock()
	f.cancel = cancel
	if s.surfaces.over {
		cancel()
	}
	return nil
}

// evict has the broker forget all Blocks that no request is bound to, to make
// room for others, and reports whether there were any.
func (s *session) evict() bool {
	t := &s.surfaces
	t.mu.Lock()
	var idle []*surface
	for b, f := range t.open {
		if f.users == 0 {
			delete(t.open, b)
			f.cancel()
			idle = append(idle, f)
		}
	}
	t.mu.Unlock()
	for _, f := range idle {
		s.drop(f)
	}
	return len(idle) > 0
}

// forget forgets all Blocks when the broker has gone.
func (t *surfaces) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, f := range t.open {
		if f.cancel != nil {
			f.cancel()
		}
	}
	clear(t.open)
}
