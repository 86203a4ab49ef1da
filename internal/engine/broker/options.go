package broker

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/anekit/anekit/internal/logger"
	"github.com/anekit/anekit/internal/numerics"
)

// Name is what the engine calls itself on receipts.
const Name = "broker"

// Environment names a shared broker's socket for engines that are opened by name.
const Environment = "ANEKIT_BROKER"

// DefaultPatience is Options.Patience unless set. A process starts within milliseconds, so ten seconds tell a frozen
// broker from a busy machine.
const DefaultPatience = 10 * time.Second

// Options says which broker to open.
type Options struct {
	// Path is the socket of a shared broker; empty means a private process.
	Path string
	// Workers bounds the threads of a private broker that share one operation; 0 means
	// as many as processors. A shared broker has its own bound.
	Workers int
	// Numerics is the arithmetic of the programs that this Engine compiles.
	Numerics numerics.Mode
	// Patience bounds every wait for the broker in calls that have no context:
	// starting it, binding, closing. Zero means DefaultPatience.
	Patience time.Duration
	// Logger gets a line when a broker is reached, lost or replaced; nil logs nothing.
	Logger logger.Logger
}

// DefaultPath is where a shared broker listens by default: anekit/broker.sock in XDG_RUNTIME_DIR. Without that it is in
// a folder of this user's in the folder for temporary files.
func DefaultPath() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "anekit", "broker.sock")
	}
	return filepath.Join("/tmp", "anekit-"+strconv.Itoa(os.Getuid()), "broker.sock")
}

// settled returns o with the defaults in place.
func (o Options) settled() Options {
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	o.Logger = logger.With(o.Logger)
	return o
}
