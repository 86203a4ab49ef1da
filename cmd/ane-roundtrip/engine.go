package main

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
	"github.com/anekit/anekit/internal/near"
)

// engineFlags adds the flags that choose an engine to a command.
func (a *app) engineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.engine, "engine", engine.Auto, "engine `NAME`: "+strings.Join(engine.Names(), ", "))
	f.StringVar(&a.socket, "broker", "", "`SOCKET` of a shared broker (default $"+brokerVariable+")")
	f.BoolVar(&a.apple, "require-ane", false, "exit with status 3 unless on Apple's engine")
}

// numericsFlag adds the flag that chooses the arithmetic to a command that has engineFlags.
func (a *app) numericsFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.mode, "numerics", numerics.Reference.String(),
		"arithmetic `MODE`: "+strings.Join(numerics.Names(), ", "))
}

// emulateFlag adds the flag that emulates what a chip refuses to a command that has engineFlags.
func (a *app) emulateFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.emulated, "emulate", "",
		"imitate the refusals of a `CHIP`: m1 to m6")
}

// chosen returns the name of the engine that the flags select, and the options to open it with.
func (a *app) chosen() (name string, opts []engine.Option, err error) {
	name = a.engine
	if !slices.Contains(engine.Names(), name) {
		return name, nil, badf("there is no engine %q; %s", name, near.Choices(name, "choose one of", engine.Names()))
	}
	if a.socket != "" {
		if name != engine.Auto && name != engine.Broker {
			return name, nil, badf("--broker is for --engine %s, not for %s; leave one of them out", engine.Broker,
				name)
		}
		name, opts = engine.Broker, append(opts, engine.BrokerPath(a.socket))
	}
	if a.apple {
		opts = append(opts, engine.RequireApple())
	}
	mode, err := a.numerics(name)
	if err != nil {
		return name, nil, err
	}
	c, err := a.emulates(name)
	return name, append(opts, engine.Numerics(mode), engine.Emulate(c)), err
}

// emulates returns the chip that --emulate names, for the engine called name; 0 without the flag.
func (a *app) emulates(name string) (chip.Chip, error) {
	if a.emulated == "" {
		return 0, nil
	}
	c, err := chip.Parse(a.emulated)
	switch {
	case err != nil:
		return 0, bad(err)
	case a.apple || name == engine.Apple:
		return 0, badf("--emulate %s: Apple's engine refuses what its own chip does; use --engine %s", c, engine.Soft)
	case name == engine.StandIn:
		return 0, badf("--emulate %s: the stand-in emulates no chip; use --engine %s", c, engine.Soft)
	}
	return c, nil
}

// numerics returns the mode that --numerics names, for the engine called name.
func (a *app) numerics(name string) (numerics.Mode, error) {
	if a.mode == "" {
		return numerics.Reference, nil
	}
	m, err := numerics.Parse(a.mode)
	switch {
	case err != nil:
		return m, badf("there is no numerics mode %q; %s", a.mode,
			near.Choices(a.mode, "choose one of", numerics.Names()))
	case m == numerics.Reference:
	case a.apple || name == engine.Apple:
		return m, badf("--numerics %s: Apple's engine computes as its own chip does; use --engine %s", m, engine.Soft)
	case name == engine.StandIn:
		return m, badf("--numerics %s: the stand-in has no arithmetic to choose; use --engine %s", m, engine.Soft)
	}
	return m, nil
}

// open opens the engine that the flags select.
func (a *app) open(ctx context.Context, wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	name, opts, err := a.chosen()
	if err != nil {
		return nil, err
	}
	d, err := engine.Open(ctx, name, append(opts, engine.Wrap(wrap))...)
	var e *ane.Error
	switch {
	case errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e) && e.Engine == engine.Broker && !a.apple:
		idle := "leave --broker out"
		if a.socket == "" {
			idle = "unset " + brokerVariable
		}
		e.Hint = strings.Replace(e.Hint, "leave the path out", idle, 1)
	case a.apple && errors.Is(err, ane.ErrUnavailable) && errors.As(err, &e):
		e.Hint = "leave --require-ane out to use another engine"
		if name != engine.Auto && name != engine.Apple {
			e.Detail = "--engine " + name + " is not Apple's"
		}
	}
	return d, err
}

// brokerVariable is the environment variable with the socket of a shared broker.
const brokerVariable = broker.Environment
