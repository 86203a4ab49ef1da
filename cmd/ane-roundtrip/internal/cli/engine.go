package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/numerics"
)

// EngineFlags adds the flags that choose an engine to a command.
func (a *App) EngineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.Engine, "engine", engine.Auto, "engine `NAME`: "+strings.Join(engine.Names(), ", "))
	f.StringVar(&a.Socket, "broker", "", "`SOCKET` of a shared broker (default $"+broker.Environment+")")
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
	return []engine.Option{engine.Numerics(mode.Chip()), engine.Emulate(c)}, err
}

// EmulatedChip returns the chip that --emulate names, for the engine called name; 0 without the flag.
func (a *App) EmulatedChip(name string) (chip.Chip, error) {
	if a.emulated == "" {
		return 0, nil
	}
	c, err := chip.Parse(a.emulated)
	if err != nil {
		return 0, Bad(err)
	}
	return c, a.onSoftOnly("--emulate "+c.String(), name, "refuses what its own chip does", "emulates no chip")
}

// numericsMode returns the mode that --numerics names, for the engine called name.
func (a *App) numericsMode(name string) (numerics.Mode, error) {
	if a.Mode == "" || a.Mode == numerics.Reference.String() {
		return numerics.Reference, nil
	}
	m, err := numerics.Parse(a.Mode)
	if err != nil {
		return m, NoSuch("numerics mode", a.Mode, numerics.Names())
	}
	return m, a.onSoftOnly("--numerics "+m.String(), name, "computes as its own chip does", "has no arithmetic to choose")
}

// onSoftOnly rejects a flag for engines that do not obey it, with what each does.
func (a *App) onSoftOnly(flag, name, apple, standIn string) error {
	switch {
	case a.RequireApple || name == engine.Apple:
		return Badf("%s: Apple's engine %s; use --engine %s", flag, apple, engine.Soft)
	case name == engine.StandIn:
		return Badf("%s: the stand-in %s; use --engine %s", flag, standIn, engine.Soft)
	}
	return nil
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
	case !errors.Is(err, ane.ErrUnavailable) || !errors.As(err, &e):
	case a.RequireApple:
		e.Hint = "leave --require-ane out to use another engine"
		if name != engine.Auto && name != engine.Apple {
			e.Detail = "--engine " + name + " is not Apple's"
		}
	case e.Engine == engine.Broker:
		idle := "leave --broker out"
		if a.Socket == "" {
			idle = "unset " + broker.Environment
		}
		e.Hint = strings.Replace(e.Hint, "leave the path out", idle, 1)
	}
	return d, err
}

// OpenEngineOrHint opens the engine that the flags select. If it is not available, the error names the
// software engine as an alternative, unless --broker rules it out.
func (a *App) OpenEngineOrHint(ctx context.Context) (*ane.Device, error) {
	d, err := a.OpenEngine(ctx, nil)
	if errors.Is(err, ane.ErrUnavailable) && !a.RequireApple && a.Engine != engine.Soft && a.Socket == "" {
		const other = "give --engine " + engine.Soft + " to compute it in software"
		return nil, BadInput{Err: fmt.Errorf("%w; %s", err, other),
			Hint: strings.TrimPrefix(ErrorHint(err)+"; "+other, "; ")}
	}
	return d, err
}
