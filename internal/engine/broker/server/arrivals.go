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

// close ends the connection. It never fails.
func (v *visitor) close() {
	v.end()
	_ = v.conn.Close()
}

// enter lets a connection in, or closes it. Another one may be closed for it.
func (d *arrivals) enter(conn *wire.Conn, peer caller, patience time.Duration) *visitor {
	v := &visitor{process: peer.pid, foreign: int(peer.user) != os.Geteuid(), silent: true, conn: conn}
	v.ctx, v.end = context.WithTimeout(context.Background(), patience)
	d.mu.Lock()
	if d.all == nil {
		d.all = map[*visitor]struct{}{}
	}
	d.n++
	v.number = d.n
	d.all[v] = struct{}{}
	out := d.surplus(v)
	delete(d.all, out)
	d.mu.Unlock()
	if out != nil {
		out.close()
	}
	if out == v {
		return nil
	}
	return v
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
