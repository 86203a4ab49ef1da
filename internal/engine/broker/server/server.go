package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/calls"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/logger"
)

// server is what the sessions of one broker share.
type server struct {
	conf    Config
	engine  *guarded
	info    ane.Info
	driver  *driver.Driver
	cache   *resources.Cache
	seen    admission.Executables
	live    *resources.Residents
	counts  counters
	budgets *resources.Budgets
	turns   *calls.Turns // of programs and instances that are being made

	ringers  ringers
	mu       sync.Mutex
	sessions map[*session]struct{}
	failed   []error     // of sessions
	last     uint64      // number of the last session
	idle     *time.Timer // runs while there is no session; nil without a limit

	ctx         context.Context // its end closes every connection
	disconnect  context.CancelFunc
	connections sync.WaitGroup // of Serve
	room        chan struct{}  // holds a token for each of them
	stuck       sync.WaitGroup // of sessions that have ended, while the engine runs for them

	draining atomic.Bool  // no call is accepted that begins work
	active   atomic.Int64 // how many sessions have a place
}

// newServer makes the engine and what goes around it. close must follow.
func newServer(c Config) (*server, error) {
	s := &server{conf: c, sessions: map[*session]struct{}{},
		turns: calls.NewTurns(max(1, c.Workers-1)), // one processor is for requests
		room:  make(chan struct{}, c.clients+max(c.clients/4, 2))}
	s.ctx, s.disconnect = context.WithCancel(context.Background())
	s.budgets = resources.NewBudgets(resources.Needs{resources.Mappings: c.process.mappings,
		resources.Descriptors: c.process.files, resources.Memory: c.process.memory}, c.clients)
	own := c.Engine()
	if own == nil {
		return nil, &ane.Error{Op: "serve", Engine: Name, Err: ane.ErrUnavailable, Detail: "Config.Engine made none"}
	}
	s.engine = guard(own, s.conf.Log)
	s.info = s.engine.Info()
	s.driver = driver.New(c.process.memory / boundShare / int64(c.clients))
	s.live = resources.NewResidents(s.driver)
	var err error
	if s.cache, err = resources.OpenCache(c.CacheDir, c.CacheBytes, s.info); err != nil {
		s.conf.Log.Warn("no cache", "error", err)
	}
	return s, nil
}

// close ends every session and gives back what they shared.
func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.conf.end)
	defer cancel()
	s.disconnect()
	err := s.driver.Close(ctx)
	if errors.Is(err, ane.ErrStuck) {
		return err // a run that does not come back uses the engine
	}
	s.stuck.Wait()
	return errors.Join(err, s.engine.Close())
}

// fail notes what a session could not give back.
func (s *server) fail(peer admission.Process, err error) {
	if err == nil {
		return
	}
	logger.With(s.conf.Log, peer.Attrs()...).Error("session did not end cleanly", "error", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < maxFailures {
		s.failed = append(s.failed, err)
	}
}

// maxFailures bounds what Serve returns of them.
const maxFailures = 16

func (s *server) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.failed...)
}

// enter counts a session in, which has no place yet.
func (s *server) enter(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	one.number = s.last
	s.sessions[one] = struct{}{}
}

// leave counts a session out, and begins to linger after the last that had a place.
func (s *server) leave(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, one)
	if one.placed && s.active.Add(-1) == 0 && s.idle != nil {
		s.idle.Reset(s.conf.Linger)
	}
}

// greeting is how often a broker that could end looks whether a connection is about to say hello.
const greeting = 250 * time.Millisecond

// linger calls end when no session had a place for some time, unless the server is to
// stay. A connection that asks for statistics alone does not keep it.
func (s *server) linger(end func()) {
	if s.conf.Stay {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = time.AfterFunc(s.conf.Linger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.active.Load() > 0: // one came while the timer ran out
		case len(s.sessions) > 0: // one may be about to say hello
			s.idle.Reset(min(greeting, s.conf.Linger))
		default:
			end()
		}
	})
}
