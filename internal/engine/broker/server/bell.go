package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// bellWait is how long a thread sleeps at a bell before it polls. Whatever matters to it
// wakes it, so that an idle broker stays idle; but a hostile client can keep the wake-up from
// the thread, and so its session from ending earlier.
const bellWait = 2 * time.Second

// openBell opens a client's bell, if its memory came beside its Hello.
func (c *session) openBell(fds wire.Descriptors) (err error) {
	switch len(fds) {
	case 0:
		return nil
	case 1:
		c.Bell, err = wire.OpenBell(fds[0])
		return err
	}
	return &wire.Error{Op: "receive", Kind: wire.KindHello, Err: wire.ErrDescriptors,
		Detail: fmt.Sprintf("%d beside hello", len(fds)), Hint: "send the memory of one bell, or nothing"}
}

// ring answers evaluations and chains that come through the bell, until the session ends.
func (c *session) ring() {
	buf := make([]byte, wire.MaxFrame)
	for {
		f, err := c.Bell.Receive(buf, bellWait)
		switch {
		case errors.Is(err, wire.ErrTimeout):
			continue
		case errors.Is(err, wire.ErrClosed):
			return
		}
		if err == nil && f.Kind != wire.KindEvaluate && f.Kind != wire.KindChain {
			// Ringing costs a client next to nothing. What it costs here is to be the
			// engine's time, which is given out by class, or trouble.
			err = &wire.Error{Op: "answer the bell", Kind: f.Kind, Err: wire.ErrKind, Detail: "not what a bell is for",
				Hint: "send it over the socket"}
		}
		if !c.treat(&f, nil, err) {
			_ = c.Conn.Close() // never fails
			return
		}
	}
}
