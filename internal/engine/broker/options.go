package broker

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/anekit/anekit/internal/numerics"
)

// Name is what the engine calls itself on receipts.
const Name = "broker"

// Environment names a shared broker's socket for engines that are opened by name.
const Environment = "ANEKIT_BROKER"

// DefaultPatience is what Options.Patience is unless set: a process starts within
// milliseconds, so that ten seconds tell a frozen broker from a busy machine.
const DefaultPatience = 10 * time.Second

// Options says which broker to open.
type Options struct {
	// Path is the socket of a shared broker; empty means a private process.
	Path string
	// Tier asks for an admission tier by name; empty means what the broker grants.
	Tier string
	// CacheDir is the folder of a private broker's compile cache; empty means no
	// cache. A shared broker has its own.
	CacheDir string
	// Workers bounds the threads of a private broker that share one operation; 0 means
	// as many as processors. A shared broker has its own bound.
	Workers int
	// Numerics is the arithmetic of the programs that this Engine compiles.
	Numerics numerics.Mode
	// Patience bounds every wait for the broker in calls that have no context:
	// starting it, binding, closing. Zero means DefaultPatience.
	Patience time.Duration
	// Logger gets a line when a broker is reached, lost or replaced; nil logs nothing.
	Logger *slog.Logger
}

// Counters are facts about one Engine's connections.
type Counters struct {
	Starts int64 // private processes started, or connections made to a shared broker
	Lost   int64 // connections that ended before Close
	Frames int64 // sent
	Bytes  int64 // sent, headers included

	Received int64 // bytes, likewise
}

// Restarts is how often a broker that was lost has been replaced.
func (c Counters) Restarts() int64 { return max(c.Starts-1, 0) }

// settled returns o with the defaults in place.
func (o Options) settled() Options {
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CacheDir != "" {
		if dir, err := filepath.Abs(o.CacheDir); err == nil { // the broker runs in another folder
			o.CacheDir = dir
		}
	}
	return o
}
