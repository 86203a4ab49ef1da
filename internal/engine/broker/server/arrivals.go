package server

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// arrivals are the connections of a listener, each of which costs descriptors and goroutines before its client has
// introduced itself. When there are too many, the oldest silent one of the process that has most of them is closed for
// the next: a process that keeps silent keeps no other out.
type arrivals struct {
	most int // connections at a time
	mu   sync.Mutex
	all  map[*visitor]struct{}
	n    int // order of arrival

	// leaving are those that were closed for others and whose goroutines have not ended: a descriptor that came over
	// the connection may keep one waiting, which is a thread, for as long as the client likes.
	leaving map[*visitor]struct{}
	left    chan struct{} // gets a token when one has left; made with all
}

// places is how many clients a broker serves.
type places struct {
	all        int
	perProcess int
	forOthers  int // the last ones, for processes that have none
	crowd      int // connections beside all that may wait to be admitted or refused; silent ones are closed for more
}

func placesFor(clients int) places {
	return places{all: clients, perProcess: max(clients/2, 1), forOthers: clients / 4, crowd: max(clients/4, 2)}
}

// visitor is one connection.
type visitor struct {
	process int
	foreign bool // of another user
	number  int
	silent  bool // arrivals.mu guards it
	conn    *wire.Conn
	ctx     context.Context // ends with the connection, and with the time for the hello
	end     context.CancelFunc
}

// close ends the connection, whose goroutine closes it.
func (v *visitor) close() {
	v.end()
	v.conn.End()
}

// enter lets a connection in, or closes it. Another one may be closed for it.
func (d *arrivals) enter(conn *wire.Conn, peer caller, patience time.Duration) *visitor {
	v := &visitor{process: peer.pid, foreign: int(peer.user) != os.Geteuid(), silent: true, conn: conn}
	v.ctx, v.end = context.WithTimeout(context.Background(), patience)
	d.mu.Lock()
	d.init()
	d.n++
	v.number = d.n
	d.all[v] = struct{}{}
	out := d.surplus(v)
	delete(d.all, out)
	if out != nil && out != v {
		d.leaving[out] = struct{}{}
	}
	d.mu.Unlock()
	if out != nil {
		out.close()
	}
	if out == v {
		return nil
	}
	return v
}

// init makes the maps. The caller holds the lock.
func (d *arrivals) init() {
	if d.all == nil {
		d.all, d.leaving, d.left = map[*visitor]struct{}{}, map[*visitor]struct{}{}, make(chan struct{}, 1)
	}
}

// leaveTime is what a connection waits for others of its process to leave; most leave in no time. All that come after
// it wait as well.
const leaveTime = 5 * time.Millisecond

// room reports whether a connection of a process may come in beside those that leave.
func (d *arrivals) room(process int) bool {
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	for {
		d.mu.Lock()
		d.init()
		full := d.full(process)
		d.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-d.left:
		case <-late.C:
			return false
		}
	}
}

// full reports whether too many leave: as many as there may be at a time, some of them of this process, or several
// times as many. The caller holds the lock.
func (d *arrivals) full(process int) bool {
	if len(d.leaving) < d.most {
		return false
	}
	for v := range d.leaving {
		if v.process == process {
			return true
		}
	}
	return len(d.leaving) >= mostLeaving*d.most
}

// surplus is the connection that has to go, if any. The caller holds the lock.
func (d *arrivals) surplus(next *visitor) *visitor {
	foreign, silent := 0, map[int]int{}
	for v := range d.all {
		if v.foreign {
			foreign++
		}
		if v.silent {
			silent[v.process]++
		}
	}
	switch {
	case next.foreign && foreign > maxForeign:
		return next
	case len(d.all) <= d.most:
		return nil
	}
	var worst *visitor
	for v := range d.all {
		if !v.silent {
			continue
		}
		more := 0
		if worst != nil {
			more = silent[v.process] - silent[worst.process]
		}
		if worst == nil || more > 0 || more == 0 && v.number < worst.number {
			worst = v
		}
	}
	return worst // next is silent, so there is one
}

// spoke notes that the client has introduced itself.
func (d *arrivals) spoke(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v.silent = false
}

// close closes the silent ones.
func (d *arrivals) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for v := range d.all {
		if v.silent {
			v.close()
		}
	}
}

// leave counts a connection out.
func (d *arrivals) leave(v *visitor) {
	v.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.all, v)
	delete(d.leaving, v)
	select {
	case d.left <- struct{}{}:
	default:
	}
}

// place gives a client that has introduced itself one of the places, until it leaves.
func (s *server) place(one *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken, own := 0, 0
	for c := range s.sessions {
		if !c.placed {
			continue
		}
		taken++
		if one.visitor != nil && c.visitor != nil && c.visitor.process == one.visitor.process {
			own++
		}
	}
	const hint = "wait until another client has gone"
	free := s.places.all - taken
	switch {
	case free <= 0:
		return exhausted("admit", "", "clients", s.places.all, hint)
	case own >= s.places.perProcess:
		return exhausted("admit", one.peer.name(), "clients of one process", s.places.perProcess,
			"close a device of this process")
	case own > 0 && free <= s.places.forOthers:
		return &ane.Error{Op: "admit", Engine: Name, Name: one.peer.name(), Err: ane.ErrExhausted, Hint: hint,
			Detail: "the places that are left are for processes that have none"}
	}
	one.placed = true
	if s.idle != nil {
		s.idle.Stop()
	}
	s.active.Store(int64(taken + 1))
	s.counts.clients.Add(1)
	if one.visitor != nil {
		s.arrivals.spoke(one.visitor)
	}
	return nil
}
