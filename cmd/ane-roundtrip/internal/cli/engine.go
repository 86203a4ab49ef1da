package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/internal/engine/broker"
)

// EngineFlags adds the flags that choose an engine to a command.
func (a *App) EngineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.Engine, "engine", engine.Auto, "engine `NAME`: "+strings.Join(engine.Names(), ", "))
	f.StringVar(&a.Socket, "broker", "", "`SOCKET` of a shared broker (default $"+BrokerVariable+")")
	f.BoolVar(&a.RequireApple, "require-ane", false, "exit with status 3 unless on Apple's engine")
}

// ArithmeticFlags adds the flags that choose the arithmetic, and a chip whose refusals are imitated, to a command that
// has EngineFlags.
func (a *App) ArithmeticFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.Mode, "numerics", numerics.Reference.String(),
		"arithmetic `MODE`: "+strings.Join(numerics.Names(), ", "))
	f.StringVar(&a.emulated, "emulate", "", "imitate the refusals of a `CHIP`: m1 to m6")
}

// EngineChoice returns the name of the engine that the flags select, and the options to open it with.
func (a *App) EngineChoice() (name string, opts []engine.Option, err error) {
	name = a.Engine
	if !slices.Contains(engine.Names(), name) {
		return name, nil, NoSuch("engine", name, engine.Names())
	}
	if a.Socket != "" {
		if name != engine.Auto && name != engine.Broker {
			return name, nil, Badf("--broker is for --engine %s, not for %s; leave one of them out", engine.Broker,
				name)
		}
		name, opts = engine.Broker, append(opts, engine.BrokerPath(a.Socket))
	}
	if a.RequireApple {
		opts = append(opts, engine.RequireApple())
	}
	more, err := a.Arithmetic(name)
	return name, append(opts, more...), err
}

// Arithmetic returns the options that --numerics and --emulate choose, for the engine called name.
func (a *App) Arithmetic(name string) ([]engine.Option, error) {
	mode, err := a.numericsMode(name)
	if err != nil {
		return nil, err
	}
	c, err := a.EmulatedChip(name)
	return []engine.Option{engine.Numerics(mode), engine.Emulate(c)}, err
}

// EmulatedChip returns the chip that --emulate names, for the engine called name; 0 without the flag.
func (a *App) EmulatedChip(name string) (chip.Chip, error) {
	if a.emulated == "" {
		return 0, nil
	}
	c, err := chip.Parse(a.emulated)
	switch {
	case err != nil:
		return 0, Bad(err)
	case a.RequireApple || name == engine.Apple:
		return 0, Badf("--emulate %s: Apple's engine refuses what its own chip does; use --engine %s", c, engine.Soft)
	case name == engine.StandIn:
		return 0, Badf("--emulate %s: the stand-in emulates no chip; use --engine %s", c, engine.Soft)
	}
	return c, nil
}

// numericsMode returns the mode that --numerics names, for the engine called name.
func (a *App) numericsMode(name string) (numerics.Mode, error) {
	if a.Mode == "" {
		return numerics.Reference, nil
	}
	m, err := numerics.Parse(a.Mode)
	switch {
	case err != nil:
		return m, NoSuch("numerics mode", a.Mode, numerics.Names())
	case m == numerics.Reference:
	case a.RequireApple || name == engine.Apple:
		return m, Badf("--numerics %s: Apple's engine computes as its own chip does; use --engine %s", m, engine.Soft)
	case name == engine.StandIn:
		return m, Badf("--numerics %s: the stand-in has no arithmetic to choose; use --engine %s", m, engine.Soft)
	}
	return m, nil
}

// OpenEngine opens the engine that the flags select.
func (a *App) OpenEngine(ctx context.Context, wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	name, opts, err := a.EngineChoice()
	if err != nil {
		return nil, err
	}
	d, err := engine.Open(ctx, name, append(opts, engine.Wrap(wrap))...)
	var e *ane.Error
	switch {
	case errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e) && e.Engine == engine.Broker && !a.RequireApple:
		idle := "leave --broker out"
		if a.Socket == "" {
			idle = "unset " + BrokerVariable
		}
		e.Hint = strings.Replace(e.Hint, "leave the path out", idle, 1)
	case a.RequireApple && errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e):
		e.Hint = "leave --require-ane out to use another engine"
		if name != engine.Auto && name != engine.Apple {
			e.Detail = "--engine " + name + " is not Apple's"
		}
	}
	return d, err
}

// BrokerVariable is the environment variable with the socket of a shared broker.
const BrokerVariable = broker.Environment
