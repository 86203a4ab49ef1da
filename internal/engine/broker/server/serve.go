package server

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/logger"
)

// pause is how long accepting rests when the system has no descriptors left.
const pause = 50 * time.Millisecond

// Listener is a socket that clients connect to: that of package shared. The error of Accept matches os.ErrClosed after
// Close, which may be called at any time, and ane.ErrClosed when clients no longer find the socket.
type Listener interface {
	Accept() (*wire.Conn, error)
	Close() error
}

// Serve answers the clients of l until ctx ends, or, unless Config.Stay, until there was none for Config.Linger. Then
// it takes no connection and refuses calls. Calls in flight have Config.Drain to end. Serve closes l and everything
// else it had. The error is nil after either end, and matches ErrCut when calls were cut. Any other error kept the
// broker from starting, or from giving everything back.
func Serve(ctx context.Context, l Listener, c Config) error {
	keepHeapWithin()
	s, err := newServer(c.settled(admission.SharedPolicy()))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	context.AfterFunc(ctx, func() { _ = l.Close() }) // reported below
	s.linger(end)
	gone := s.accept(ctx, l)
	if gone != nil {
		s.conf.Log.Error("socket gone", "error", gone)
	}
	err = errors.Join(gone, l.Close(), s.drain())
	s.disconnect()
	s.connections.Wait()
	return errors.Join(err, s.close(), s.failure())
}

// accept takes connections until l is closed, which the end of ctx does. Those that there is no room for wait.
func (s *server) accept(ctx context.Context, l Listener) error {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, os.ErrClosed):
			return nil
		case errors.Is(err, ane.ErrClosed):
			return err
		case err != nil:
			s.conf.Log.Warn("connection not accepted", "error", err)
			time.Sleep(pause)
			continue
		}
		select {
		case s.room <- struct{}{}:
		case <-ctx.Done():
			_ = conn.Close() // never fails
			return nil
		}
		s.connections.Go(func() {
			peer := admission.ProcessOf(conn)
			_, err := s.answer(conn, peer)
			s.fail(peer, err)
			<-s.room
		})
	}
}

// answer serves one connection, which it closes. refused is why the client is not admitted, err what the broker could
// not give back.
func (s *server) answer(conn *wire.Conn, peer admission.Process) (refused, err error) {
	defer conn.Close()
	ctx, cancel := context.WithTimeout(s.ctx, s.conf.hello)
	defer cancel()
	id, refused := s.seen.Identify(ctx, conn)
	if refused == nil {
		return nil, newSession(s, conn, id, peer).run()
	}
	s.counts.refusedPeer.Add(1)
	logger.With(s.conf.Log, peer.Attrs()...).Info("client refused", "error", refused)
	// An answer that comes before the question may be lost with the connection.
	defer time.AfterFunc(s.conf.hello, func() { _ = conn.Close() }).Stop()
	defer context.AfterFunc(s.ctx, func() { _ = conn.Close() })() // never fails
	f, fds, err := receive(conn, make([]byte, wire.MaxFrame))
	fds.Close()
	if err == nil || errors.Is(err, wire.ErrDescriptors) {
		p := wire.NewFault(refused)
		_ = conn.Send(wire.Frame{Kind: wire.KindFault, ID: f.ID, Payload: wire.Append(nil, &p)}) // or it has gone
	}
	return refused, nil
}

// ServeConn answers one client until it goes or ctx ends. It closes conn and
// everything else it had.
func ServeConn(ctx context.Context, conn *wire.Conn, c Config) error {
	defer conn.Close()
	c.clients = 1
	keepHeapWithin()
	s, err := newServer(c.settled(admission.OwnerPolicy()))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, s.disconnect)()
	refused, err := s.answer(conn, admission.ProcessOf(conn))
	if ctx.Err() != nil {
		refused = nil
	}
	return errors.Join(refused, err, s.close())
}
