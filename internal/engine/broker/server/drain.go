package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// ErrCut: the broker ended while calls were in flight.
var ErrCut = errors.New("calls were cut")

// drainTick is the time between two counts of the calls in flight.
const drainTick = 5 * time.Millisecond

// drain refuses calls that begin work, and waits until those in flight are answered or the time for that is over. An
// error matches ErrCut.
func (s *server) drain() error {
	s.draining.Store(true)
	if s.conf.Drain <= 0 {
		return nil
	}
	left := s.inFlight()
	if left > 0 {
		s.conf.Log.Info("draining", "calls", left, "time", s.conf.Drain)
	}
	late := time.NewTimer(s.conf.Drain)
	defer late.Stop()
	again := time.NewTicker(drainTick)
	defer again.Stop()
	why := fmt.Sprintf("after %v", s.conf.Drain)
	for over := false; left > 0 && !over; {
		select {
		case <-again.C:
		case <-late.C:
			over = true
		case <-s.conf.Hurry:
			over, why = true, "at the second signal"
		}
		left = s.inFlight()
	}
	if left == 0 {
		return nil
	}
	err := &ane.Error{Op: "drain", Engine: Name, Err: ErrCut, Detail: fmt.Sprintf("%d in flight %s", left, why),
		Hint: "give calls more time with --drain"}
	s.conf.Log.Warn("calls cut", "error", err)
	return err
}

// inFlight counts the calls for whose answers clients wait. While the broker drains it does not grow.
func (s *server) inFlight() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.sessions {
		n += one.inFlight()
	}
	return n
}

// inFlight counts the calls of a client. One that is being answered by the reader may be the last
// to begin work, so it is looked at first.
func (c *session) inFlight() (n int) {
	if c.turn.TryLock() {
		c.turn.Unlock()
	} else {
		n++
	}
	return n + len(c.compiles.asked) + c.calls.Count()
}

// begins reports whether a call begins work, which a broker that drains refuses. The others undo and ask.
func begins(k wire.Kind) bool {
	switch k {
	case wire.KindHello, wire.KindSurface, wire.KindCompile, wire.KindInstance, wire.KindLoad, wire.KindBind,
		wire.KindEvaluate, wire.KindChain, wire.KindPurge:
		return true
	}
	return false
}

// ending is the answer to a call that begins work while the broker ends.
func ending(op string) error {
	return &ane.Error{Op: op, Engine: Name, Err: ane.ErrClosed, Detail: "the broker is ending", Hint: "connect again"}
}
