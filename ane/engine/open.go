package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Open opens the engine called name; Auto is the best of this machine. The caller closes
// the Device. Open waits until the engine has answered, a minute at most, or until ctx
// ends.
//
// An error matches ane.ErrUnavailable and says why the engine cannot be had, ane.ErrName
// when there is no such engine, or ane.ErrDeadline when ctx ended first.
func Open(ctx context.Context, name string, opts ...Option) (*ane.Device, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("open", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	c := configure(opts)
	var passed []string // why Auto went past an engine
	for _, k := range candidates() {
		if name != k.name && (name != Auto || k.name != Apple && k.name != Soft) {
			continue
		}
		e, err := k.try(ctx, c)
		if err == nil {
			return c.device(e, strings.Join(passed, "; "))
		}
		if name == Auto && !c.apple && ctx.Err() == nil {
			c.log.Info("engine not available", "engine", k.name, "reason", reason(err))
			passed = append(passed, k.name+" is not available: "+reason(err))
			continue
		}
		c.log.Warn("engine cannot be opened", "engine", k.name, "reason", reason(err))
		if errors.Is(err, ane.ErrUnavailable) || errors.Is(err, ane.ErrDeadline) {
			return nil, err
		}
		return nil, &ane.Error{Op: "open", Engine: k.name, Err: ane.Because(ane.ErrUnavailable, err),
			Hint: "run `ane-roundtrip info` to see what this machine has"}
	}
	return nil, &ane.Error{Op: "open", Engine: name, Err: ane.ErrName, Hint: "choose one of " + strings.Join(Names(), ", ")}
}

// try opens the engine if it is available and is what the options demand.
func (k candidate) try(ctx context.Context, c config) (ane.Engine, error) {
	if c.apple && k.name != Apple {
		return nil, &ane.Error{Op: "open", Engine: k.name, Err: ane.ErrUnavailable, Detail: "Apple's engine is required, and this is the " + k.what,
			Hint: "open " + Apple + ", or leave RequireApple out"}
	}
	if err := k.probe(); err != nil {
		return nil, err
	}
	e, err := k.open(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.offsets && !e.Info().Offsets {
		return nil, errors.Join(&ane.Error{Op: "open", Engine: k.name, Err: ane.ErrUnavailable, Detail: "it reads every surface from byte 0",
			Hint: "open " + Soft + ", or leave AllowOffsets out and give every tensor a surface of its own"}, e.Close())
	}
	return e, nil
}

// device makes a Device of the engine that Open chose.
func (c config) device(e ane.Engine, fallback string) (*ane.Device, error) {
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
