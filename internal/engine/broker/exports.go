package broker

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

type block = unimem.Block

// exports are the Blocks that one broker knows: each is sent to it once, for as long as requests are bound to it.
type exports struct {
	mu    sync.Mutex
	known map[*block]*export
	last  uint32 // token given out last
}

// export is a Block that the broker knows, or that is being sent.
type export struct {
	block *block
	token uint32
	users int           // requests that are or may be bound to it at the broker
	sent  chan struct{} // closed when it is known, or err is set
	err   error
}

// export makes a Block known and counts one more request on it; release follows, also after an error.
func (l *link) export(b *block) *export {
	t := &l.exports
	t.mu.Lock()
	x, found := t.known[b]
	if !found {
		t.last++
		x = &export{block: b, token: t.last, sent: make(chan struct{})}
		t.known[b] = x
	}
	x.users++
	t.mu.Unlock()
	if found {
		<-x.sent
		return x
	}
	x.err = l.introduce(x)
	close(x.sent)
	return x
}

// introduce sends the descriptor of a Block.
func (l *link) introduce(x *export) error {
	file, err := x.block.Share()
	if err != nil {
		return &ane.Error{Op: "bind", Engine: Name, Err: err}
	}
	defer file.Close()
	request := wire.Surface{ID: x.block.ID(), Size: uint64(x.block.Size()), Token: x.token}
	return l.ask(wire.KindSurface, &request, &wire.Empty{}, int(file.Fd()))
}

// release counts one request less on each, and has the broker forget those without any.
func (l *link) release(all []*export) error {
	var errs []error
	for _, x := range all {
		l.exports.mu.Lock()
		x.users--
		unused := x.users == 0
		if unused {
			delete(l.exports.known, x.block)
		}
		l.exports.mu.Unlock()
		if unused && x.err == nil {
			errs = append(errs, undone(l.ask(wire.KindDrop, &wire.Drop{Token: x.token}, &wire.Empty{})))
		}
	}
	return errors.Join(errs...)
}
