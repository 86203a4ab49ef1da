package engine

import (
	"log/slog"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker"
)

// Option changes what Open opens.
type Option func(*config)

type config struct {
	apple   bool
	offsets bool
	log     *slog.Logger
	broker  string
	wrap    []func(ane.Engine) ane.Engine
}

func configure(opts []Option) config {
	c := config{broker: os.Getenv(broker.Environment)}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

// RequireApple refuses every engine but Apple's: where it is not available, Open returns
// an error that says why, also for Auto.
func RequireApple() Option { return func(c *config) { c.apple = true } }

// AllowOffsets demands an engine that takes tensors behind byte 0 of their surface: those
// of a Tape, of a Grid without a surface for each cell, and slices. The software engine is
// opened so. Apple's engine reads every surface from byte 0 and does not qualify, nor does
// what behaves as it does: Open refuses it by name, and Auto goes past it. Programs that
// need this option do not carry over to hardware.
func AllowOffsets() Option { return func(c *config) { c.offsets = true } }

// Logger has Open tell which engines Auto goes past, and why, which one it opens, and when
// the Broker's process is reached, lost and replaced. Without it nothing is logged.
func Logger(l *slog.Logger) Option { return func(c *config) { c.log = l } }

// BrokerPath is the socket of a shared broker for the engine Broker; an empty path starts
// a private one. Without the option the environment variable ANEKIT_BROKER decides.
func BrokerPath(path string) Option { return func(c *config) { c.broker = path } }

// Wrap replaces the engine before anything uses it, for tests. Of several the last one is
// outermost.
func Wrap(f func(ane.Engine) ane.Engine) Option {
	return func(c *config) {
		if f != nil {
			c.wrap = append(c.wrap, f)
		}
	}
}
