package server

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// ringers are the sessions whose bells one goroutine, the leader, answers in turn. With a thread for each bell, every
// call would be a change of thread, and calls would queue for the processors of threads that sleep. While the
// leader is held up in a frame, another one answers the others.
type ringers struct {
	sleep wire.Sleeper
	mu    sync.Mutex // guards what follows, and the field held of sessions
	all   []*session
	last  int    // place of the session that was answered last
	lead  uint64 // number of the leader
	leads bool   // there is one

	frames  uint64 // that leaders have begun
	busy    bool   // with the last of them
	looked  uint64 // frames when the watch looked last
	watched bool   // the watch runs
}

// heldUp is how long a leader answers one frame before there is another leader, or up to twice as long.
const heldUp = 2 * time.Millisecond

// rest is how long a leader goes on before it lets Go's scheduler run, whose monitor otherwise takes its processor when
// it sleeps, and from then on looks every 20 us.
const rest = 4 * time.Millisecond

// add has the bell of a session answered until it is closed.
func (r *ringers) add(c *session) {
	c.ringer.Add(1)
	r.mu.Lock()
	r.all = append(r.all, c)
	if !r.leads {
		r.succeed()
	}
	r.mu.Unlock()
	r.sleep.Wake()
}

// succeed makes another leader. The caller holds the lock.
func (r *ringers) succeed() {
	r.leads, r.busy = true, false
	r.lead++
	go r.answer(r.lead)
}

// answer is what leader number me does, until another one leads or there is no bell left.
func (r *ringers) answer(me uint64) {
	buf := make([]byte, wire.MaxFrame)
	var bells []*wire.Bell
	for rested := time.Now(); ; {
		wakes := r.sleep.Wakes()
		c, f, err := r.next(buf)
		if c != nil {
			more := c.rung(&f, err, r)
			if !r.done(c, me, more) {
				return
			}
			continue
		}
		if now := time.Now(); now.Sub(rested) > rest {
			rested = now
			runtime.Gosched()
		}
		if bells = r.quiet(bells[:0]); bells == nil {
			return
		}
		r.sleep.Sleep(wakes, bells)
		clear(bells)
	}
}

// next receives a frame of the session whose turn it is; nil when there is none.
func (r *ringers) next(buf []byte) (*session, wire.Frame, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.all {
		r.last = (r.last + 1) % len(r.all)
		c := r.all[r.last]
		if c.held {
			continue
		}
		f, err := c.Bell.Receive(buf, 0)
		if errors.Is(err, wire.ErrTimeout) {
			continue
		}
		c.held, r.busy = true, true
		r.frames++
		if !r.watched {
			r.watched = true
			time.AfterFunc(heldUp, r.watch)
		}
		return c, f, err
	}
	return nil, wire.Frame{}, nil
}

// done takes a session back from leader number me, or drops it. It reports whether that one leads still.
func (r *ringers) done(c *session, me uint64, more bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.held = false
	if !more {
		r.all = slices.DeleteFunc(r.all, func(o *session) bool { return o == c })
		c.ringer.Done()
	}
	if r.lead != me {
		r.sleep.Wake() // the leader has left the bell out
		return false
	}
	r.busy = false
	return true
}

// quiet lists the bells to sleep at; nil when the leader is needed no more.
func (r *ringers) quiet(bells []*wire.Bell) []*wire.Bell {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 {
		r.leads = false
		return nil
	}
	for _, c := range r.all {
		if !c.held {
			bells = append(bells, c.Bell)
		}
	}
	return slices.Grow(bells, 1) // not nil
}

// watch looks while there are frames whether the leader is held up.
func (r *ringers) watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := r.frames == r.looked
	r.looked = r.frames
	switch {
	case same && r.busy:
		r.succeed()
	case same:
		r.watched = false
		return
	}
	time.AfterFunc(heldUp, r.watch)
}

// hand makes another leader before the present one waits.
func (r *ringers) hand() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.succeed()
	}
}
