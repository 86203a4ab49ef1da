package server

import (
	"cmp"
	"runtime"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/logger"
)

// DefaultLinger is how long a shared broker outlives its last client. A command that runs repeatedly finds it warm.
const DefaultLinger = 5 * time.Second

// Config says how a broker works. The zero value is a broker over the software
// engine, without a cache on disk.
type Config struct {
	// Engine makes the engine that the broker drives; nil is the software engine. The
	// broker closes it.
	Engine func() ane.Engine
	// Workers bounds the goroutines of the software engine that share one operation, and the compiles that run at a
	// time; 0 means GOMAXPROCS. See Processors.
	Workers int
	// CacheDir is the folder of the compile cache, made with mode 0700 when it is
	// missing; empty means no cache on disk.
	CacheDir string
	// CacheBytes bounds the files in CacheDir; 0 means DefaultCacheBytes.
	CacheBytes int64
	// Linger is how long Serve runs without a client, also before the first;
	// 0 means DefaultLinger.
	Linger time.Duration
	// Stay makes Serve end with its context only.
	Stay bool
	// Policy grants entitlements; nil is SharedPolicy for Serve and OwnerPolicy
	// for ServeConn.
	Policy *admission.Policy
	// Drain is how long calls in flight may go on when Serve ends, and Hurry ends that time; nil never does. Without
	// a Drain they are cut at once, which is no error then.
	Drain time.Duration
	Hurry <-chan struct{}
	// Log gets what a client did wrong and what was not worth failing for; nil is
	// nothing.
	Log logger.Logger

	// How long the broker waits, for tests; 0 means the constants of process.go.
	hello, write, end time.Duration

	// What the process may spend, for tests; 0 means what thisProcess says.
	process allowance
	// clients among whom it is divided; 0 means process.clients.
	clients int
}

// settled returns c with every default in place.
func (c Config) settled(policy *admission.Policy) Config {
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Engine == nil {
		c.Engine = func() ane.Engine { return soft.New(soft.Workers(c.Workers)) }
	}
	c.CacheBytes = cmp.Or(c.CacheBytes, resources.DefaultCacheBytes)
	c.Linger = cmp.Or(c.Linger, DefaultLinger)
	c.hello = cmp.Or(c.hello, helloTime)
	c.write = cmp.Or(c.write, writeTime)
	c.end = cmp.Or(c.end, endTime)
	c.process = c.process.or(thisProcess())
	c.clients = cmp.Or(c.clients, c.process.clients)
	if c.Policy == nil {
		c.Policy = policy
	}
	c.Log = logger.With(c.Log)
	return c
}
