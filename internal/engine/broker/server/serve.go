package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// pause is how long accepting rests when the system has no descriptors left.
const pause = 50 * time.Millisecond

// Serve answers the clients of l until ctx ends, or, unless Config.Stay, until
// there was none for Config.Linger. Then it takes no connection and refuses calls, those
// in flight have Config.Drain to end, and it closes l and everything else it had. The
// error is nil after either end, matches ErrCut when calls were cut, and is otherwise what
// kept the broker from starting, or from giving everything back.
func Serve(ctx context.Context, l *Listener, c Config) error {
	if err := fits(); err != nil {
		return errors.Join(err, l.Close())
	}
	keepHeapWithin()
	s, err := newServer(c.settled(SharedPolicy()))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.linger()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var closing sync.WaitGroup
	closing.Go(func() {
		select {
		case <-s.over:
		case <-s.watching:
		}
		_ = l.Close() // reported below
	})
	var removed error
	closing.Go(func() { removed = s.guardSocket(l) })
	err = errors.Join(s.accept(ctx, l), s.drain())
	s.disconnect()
	s.connections.Wait()
	err = errors.Join(err, s.close(), l.Close())
	closing.Wait()
	return errors.Join(err, removed, s.failure())
}

// guardSocket ends the broker when its socket's file was removed or replaced, or the socket
// shut down, and says so: no client can reach it any more, its lock keeps another broker from
// the place, and making the file again would take it from the process that replaced it.
func (s *server) guardSocket(l *Listener) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-s.watching:
			return nil
		case <-t.C:
		}
		s.mu.Lock()
		ending := s.ending
		s.mu.Unlock()
		detail, hint := l.lost()
		if ending || detail == "" {
			continue
		}
		if l.ended() {
			return nil
		}
		err := &ane.Error{Op: "serve", Engine: Name, Name: l.Path(), Err: ane.ErrClosed, Detail: detail, Hint: hint}
		s.conf.Log.Error("socket gone", "error", err)
		_ = l.Close() // reported by Serve
		return err
	}
}

// accept takes connections until l is closed, which the end of ctx does. Those that there is no room for wait.
func (s *server) accept(ctx context.Context, l *Listener) error {
	for {
		fd, err := l.accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			s.conf.Log.Warn("connection not accepted", "error", err)
			time.Sleep(pause)
			continue
		}
		peer := callerOf(fd)
		conn, err := wire.NewConn(fd)
		if err != nil {
			s.conf.Log.With(peer.attrs()...).Warn("connection not taken", "error", err)
			continue
		}
		select {
		case s.room <- struct{}{}:
		case <-ctx.Done():
			_ = conn.Close() // never fails
			return nil
		}
		s.connections.Go(func() {
			s.fail(peer, s.answer(conn, peer))
			<-s.room
		})
	}
}

// answer serves one connection, which it closes.
func (s *server) answer(conn *wire.Conn, peer caller) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.conf.hello)
	defer cancel()
	var id Identity
	denied := conn.Control(func(fd int) (err error) {
		id, err = identify(ctx, fd, &s.seen)
		return err
	})
	if denied != nil {
		s.reject(conn, peer, denied)
		return nil
	}
	return newSession(s, conn, id, peer).run()
}

// reject tells a client that is not admitted why, once it has introduced itself: an
// answer that comes before the question may be lost with the connection. A frame in a memfd is no introduction: it is
// not read, since no budget counts what a client that is not admitted sends.
func (s *server) reject(conn *wire.Conn, peer caller, why error) {
	s.counts.refusedPeer.Add(1)
	s.conf.Log.With(peer.attrs()...).Info("client refused", "error", why)
	defer conn.Close()
	if !s.track(conn) {
		return
	}
	defer s.untrack(conn)
	late := time.AfterFunc(s.conf.hello, conn.End)
	defer late.Stop()
	conn.LimitLong(1)
	f, fds, err := conn.Receive(make([]byte, wire.MaxFrame))
	fds.Close()
	if err == nil {
		p := wire.NewFault(why)
		// it is turned away all the same
		_ = conn.Send(wire.Frame{Kind: wire.KindFault, ID: f.ID, Payload: wire.Append(nil, &p)})
	}
}

// ServeConn answers one client until it goes or ctx ends. It closes conn and
// everything else it had.
func ServeConn(ctx context.Context, conn *wire.Conn, c Config) error {
	defer conn.Close()
	c.clients = 1
	keepHeapWithin()
	s, err := newServer(c.settled(OwnerPolicy()))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, s.disconnect)
	defer stop()
	var id Identity
	var peer caller
	err = conn.Control(func(fd int) (err error) {
		peer = callerOf(fd)
		id, err = identify(ctx, fd, &s.seen)
		return err
	})
	if ctx.Err() != nil {
		return s.close()
	}
	if err != nil {
		s.reject(conn, peer, err)
		return errors.Join(err, s.close())
	}
	return errors.Join(newSession(s, conn, id, peer).run(), s.close())
}
