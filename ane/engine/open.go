package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/numerics"
)

// Open opens the engine called name; Auto is the best of this machine. The caller closes the Device. Open waits until
// the engine is ready, for at most a minute, or until ctx ends.
//
// Errors: ane.ErrUnavailable (the engine is not available; the error has the reason), ane.ErrName (no such engine),
// ane.ErrDeadline (ctx ended first).
func Open(ctx context.Context, name string, opts ...Option) (device *ane.Device, err error) {
	device, err = choices(name).open(ctx, name, opts)
	return
}

// choice lists the engines that Open looks through.
type choice func() []candidate

// choices is inlined into Open, and Open into its callers. Where the name is a constant, the linker leaves out the
// engines that it does not name: a fifth of a small program. Open has 77 of the 80 nodes that the compiler inlines, so
// its body is this one call and its results have names. TestLinked fails if it is not inlined.
func choices(name string) choice {
	switch name {
	case Soft, Auto:
		return automatic
	}
	return candidates
}

func (list choice) open(ctx context.Context, name string, opts []Option) (*ane.Device, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("open", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	c := configure(opts)
	if c.path != "" && name != Broker {
		return nil, &ane.Error{Op: "open", Engine: name, Name: c.path, Err: ane.ErrName,
			Detail: "BrokerPath is for the engine " + Broker, Hint: "open " + Broker + ", or leave BrokerPath out"}
	}
	var err error
	if c.mode, err = numerics.Of(c.sums); err != nil {
		return nil, &ane.Error{Op: "open", Engine: name, Name: c.sums.String(), Err: ane.ErrUnavailable,
			Detail: err.Error(), Hint: "leave Numerics out"}
	}
	var skipped []string // engines that Auto skipped, with reasons
	for _, k := range list() {
		if name != k.name && name != Auto {
			continue
		}
		e, err := k.try(ctx, c)
		if err == nil {
			return c.device(e, strings.Join(skipped, "; "))
		}
		if name == Auto && !c.apple && ctx.Err() == nil {
			c.log.Info("engine not available", "engine", k.name, "reason", reason(err))
			skipped = append(skipped, k.name+" is not available: "+reason(err))
			continue
		}
		c.log.Warn("engine cannot be opened", "engine", k.name, "reason", reason(err))
		if errors.Is(err, ane.ErrUnavailable) || errors.Is(err, ane.ErrDeadline) {
			return nil, err
		}
		return nil, &ane.Error{Op: "open", Engine: k.name, Err: ane.Because(ane.ErrUnavailable, err),
			Hint: "run `ane-roundtrip info` to list the engines of this machine"}
	}
	return nil, &ane.Error{Op: "open", Engine: name, Err: ane.ErrName,
		Hint: "choose one of " + strings.Join(Names(), ", ")}
}

// try opens the engine if it is available and satisfies the options.
func (k candidate) try(ctx context.Context, c config) (ane.Engine, error) {
	refuse := func(name, detail, hint string) (ane.Engine, error) {
		return nil, &ane.Error{Op: "open", Engine: k.name, Name: name, Err: ane.ErrUnavailable, Detail: detail, Hint: hint}
	}
	software := k.name == Soft || k.name == Broker
	switch {
	case c.apple && k.name != Apple:
		return refuse("", "the "+k.what+" is not Apple's engine", "open "+Apple+", or remove RequireApple")
	case c.mode != numerics.Reference && !software:
		return refuse(c.mode.String(), "the arithmetic of the "+k.what+" cannot be chosen",
			"open "+Soft+" or "+Broker+", or remove Numerics")
	case c.chip.Valid() && !software:
		return refuse(c.chip.String(), "the "+k.what+" emulates no chip",
			"open "+Soft+" or "+Broker+", or remove Emulate")
	case c.workers > 0 && (!software || k.name == Broker && c.broker != ""):
		return refuse(c.broker, "its goroutines cannot be bounded from here",
			"open "+Soft+" or a private "+Broker+", or remove Workers")
	case c.offsets && k.name != Soft:
		return refuse("", "it reads every surface from byte 0",
			"open "+Soft+", or remove AllowOffsets and make every tensor on its own surface")
	}
	if err := k.probe(); err != nil {
		return nil, err
	}
	return k.open(ctx, c)
}

// device makes a Device of the engine e.
func (c config) device(e ane.Engine, fallback string) (*ane.Device, error) {
	if c.chip.Valid() {
		e = c.emulate(e, c.chip)
	}
	for _, f := range c.wrap {
		e = f(e)
	}
	d, err := ane.Open(e, fallback)
	if err == nil {
		i := d.Info()
		c.log.Info("engine opened", "engine", i.Name, "chip", i.Chip, "os", i.OSBuild, "fallback", fallback)
	}
	return d, err
}
