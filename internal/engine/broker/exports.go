package broker

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

type block = unimem.Block

// exports are the Blocks that one broker knows: each is sent to it once, when it is bound for the first time, and
// forgotten when it is closed.
type exports struct {
	mu   sync.Mutex
	open map[*block]*export
	last uint32 // token given out last
	over bool

	dropping sync.Mutex // so that Blocks that close beside a frozen broker leave room in the socket
}

// export is a Block that the broker knows, or that is being sent.
type export struct {
	token  uint32
	users  int           // requests that are or may be bound to it at the broker
	closed bool          // the Block; to be dropped with its last user
	sent   chan struct{} // closed when it is known, or err is set
	err    error
	cancel func() bool // of what happens at the Block's Close
}

// export makes a Block known and counts one more request on it; release follows.
func (l *link) export(b *block) (*export, error) {
	t := &l.exports
	t.mu.Lock()
	x, found := t.open[b]
	if !found {
		t.last++
		x = &export{token: t.last, sent: make(chan struct{})}
		t.open[b] = x
	}
	x.users++
	t.mu.Unlock()
	if found {
		<-x.sent
		return x, x.err
	}
	x.err = l.introduce(b, x)
	if errors.Is(x.err, ane.ErrExhausted) && l.evict() {
		x.err = l.introduce(b, x)
	}
	if x.err != nil {
		t.remove(b, x)
	}
	close(x.sent)
	return x, x.err
}

// introduce sends the descriptor of b.
func (l *link) introduce(b *block, x *export) error {
	file, err := b.Share()
	if err != nil {
		return &ane.Error{Op: "bind", Engine: Name, Err: err}
	}
	defer file.Close()
	request := wire.Surface{ID: b.ID(), Size: uint64(b.Size()), Token: x.token}
	if err := l.ask(wire.KindSurface, &request, &wire.SurfaceReply{}, int(file.Fd())); err != nil {
		return err
	}
	cancel, err := b.AtClose(func() { l.blockClosed(b, x) })
	if err != nil {
		l.drop(x)
		return &ane.Error{Op: "bind", Engine: Name, Err: ane.Because(ane.ErrStale, err)}
	}
	l.exports.mu.Lock()
	defer l.exports.mu.Unlock()
	x.cancel = cancel
	if l.exports.over {
		cancel()
	}
	return nil
}

// release counts one request less on each.
func (l *link) release(all []*export) {
	for _, x := range all {
		l.exports.mu.Lock()
		x.users--
		drop := x.closed && x.users == 0
		l.exports.mu.Unlock()
		if drop {
			l.drop(x)
		}
	}
}

// blockClosed forgets a Block that closes. A request may outlive that at the broker, if its caller has stopped waiting.
func (l *link) blockClosed(b *block, x *export) {
	known := l.exports.remove(b, x)
	l.exports.mu.Lock()
	x.closed = known
	drop := known && x.users == 0
	l.exports.mu.Unlock()
	if drop {
		l.drop(x)
	}
}

// drop has the broker forget what nothing is bound to, without waiting for it.
func (l *link) drop(x *export) {
	go func() {
		l.exports.dropping.Lock()
		defer l.exports.dropping.Unlock()
		_ = l.ask(wire.KindDrop, &wire.Drop{Token: x.token}, &wire.Empty{}) // the broker's own loss
	}()
}

// evict has the broker forget all Blocks that no request is bound to, to make room for others, and reports whether
// there were any.
func (l *link) evict() bool {
	t := &l.exports
	t.mu.Lock()
	var idle []*export
	for b, x := range t.open {
		if x.users == 0 {
			delete(t.open, b)
			x.cancel()
			idle = append(idle, x)
		}
	}
	t.mu.Unlock()
	for _, x := range idle {
		_ = l.ask(wire.KindDrop, &wire.Drop{Token: x.token}, &wire.Empty{}) // introduce tells if there is no room
	}
	return len(idle) > 0
}

// remove forgets x, and reports whether it was known.
func (t *exports) remove(b *block, x *export) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.open[b] == x
	if known {
		delete(t.open, b)
	}
	return known
}

// forget forgets all Blocks when the broker has gone.
func (t *exports) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, x := range t.open {
		if x.cancel != nil {
			x.cancel()
		}
	}
	clear(t.open)
}
