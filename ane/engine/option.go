package engine

import (
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/emulate"
	"github.com/anekit/anekit/internal/logger"
	"github.com/anekit/anekit/internal/numerics"
)

// Option configures Open.
type Option func(*config)

type config struct {
	apple   bool
	offsets bool
	workers int                                    // 0: as many as processors
	sums    chip.Chip                              // whose arithmetic Numerics chose; 0: the engine's own
	mode    numerics.Mode                          // of sums, once Open knows it
	chip    chip.Chip                              // 0: no emulation
	emulate func(ane.Engine, chip.Chip) ane.Engine // set with chip: programs without Emulate do not link it
	keep    bool
	log     logger.Logger
	broker  string
	path    string // as BrokerPath gave it
	wrap    []func(ane.Engine) ane.Engine
}

func configure(opts []Option) config {
	c := config{broker: os.Getenv(broker.Environment)}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	c.log = logger.With(c.log)
	return c
}

// RequireApple refuses every engine except Apple's: if that is not available, Open returns
// an error with the reason, also for Auto.
func RequireApple() Option { return func(c *config) { c.apple = true } }

// AllowOffsets requires an engine that accepts tensors after byte 0 of their surface. These are slices, and tensors of
// a Tape or of a Grid whose cells share a surface. Only the software engine does. Apple's engine, the stand-in and the
// broker read every surface from byte 0: Open refuses them by name, and Auto skips them. A program that needs this
// option does not run on hardware.
func AllowOffsets() Option { return func(c *config) { c.offsets = true } }

// Numerics makes the engine compute as a chip does: chip.M1, M2, M4, M5 or M6, whose arithmetic has been measured.
// Open refuses M3. The zero Chip, the default, is the software engine's own arithmetic: sums in fp32 or wider, each
// stored value rounded once to nearest even. Only Soft and Broker imitate chips; a shared broker does so only for this
// Device. Open refuses a chip for the other engines, whose arithmetic is their own, and Auto skips Apple. Info and
// receipts name the arithmetic.
func Numerics(imitated chip.Chip) Option { return func(c *config) { c.sums = imitated } }

// Workers has at most n goroutines share one large operation, since separate hardware would not use the processors of
// this process. With Workers(1) each of several Devices computes on one processor. By default, and for n below 1, they
// are as many as processors. Requests that run at once are not counted together. Only Soft and a private Broker
// have the bound: Open refuses it for the other engines, and Auto skips Apple.
func Workers(n int) Option { return func(c *config) { c.workers = max(n, 0) } }

// Emulate makes Soft and Broker refuse what Apple's software on a chip refuses in memory: a program that cannot run
// there fails here. Compile and Evaluate return errors with Apple's domain, code and text, and with lint's findings. So
// do the compile beyond the budget of a process and the load beyond its slots. This process has one budget for each
// chip, for all its Devices, as a process on a Mac has. Arithmetic does not change: see Numerics.
//
// Info and receipts name the emulated chip. Open refuses the option for Apple and StandIn, and Auto skips Apple. A chip
// that is not valid emulates none.
func Emulate(c chip.Chip) Option {
	return func(cfg *config) { cfg.chip, cfg.emulate = c, emulated }
}

func emulated(e ane.Engine, c chip.Chip) ane.Engine { return emulate.New(e, c, emulate.Process(c)) }

// KeepFiles leaves the files of a program where the framework keeps them until its unload: its text, its weights and
// what it was compiled to. By default they go after the load, because the weights would be on disk twice. Only Apple
// and StandIn have such files.
func KeepFiles() Option { return func(c *config) { c.keep = true } }

// Log takes the lines that Logger logs, with keys and values in turn. A *slog.Logger is one; programs that log nothing
// need not link it.
type Log interface {
	Debug(msg string, attributes ...any)
	Info(msg string, attributes ...any)
	Warn(msg string, attributes ...any)
	Error(msg string, attributes ...any)
}

// Logger logs the engines that Auto skips, with reasons, the engine that Open opens, and
// connects, losses and reconnects of the Broker's process. By default nothing is logged.
func Logger(l Log) Option { return func(c *config) { c.log = l } }

// BrokerPath is the socket of a shared broker for the engine Broker; an empty path starts a private one. Without the
// option the environment variable ANEKIT_BROKER decides. Open refuses a path for any other engine, also for Auto.
func BrokerPath(path string) Option { return func(c *config) { c.broker, c.path = path, path } }

// Wrap replaces the engine before its first use, for tests. The last of several is outermost.
func Wrap(f func(ane.Engine) ane.Engine) Option {
	return func(c *config) {
		if f != nil {
			c.wrap = append(c.wrap, f)
		}
	}
}
