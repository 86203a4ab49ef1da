package engine

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// Observation is what a framework said of the machine, of the known-answer program and
// of failures: what a dump of the machine consists of.
type Observation struct {
	Known  apple.Known
	Report objcbridge.Report
	Fault  error         // why parts of Report are missing, or nil
	Opened time.Duration // from loading the framework to the end of the known-answer run

	first []apple.Met // met while the engine was opened
	met   func() []apple.Met
	usage func() objcbridge.Usage
}

// Usage returns what this process has spent of what the framework grants it; zero where
// the engine was not opened.
func (o *Observation) Usage() objcbridge.Usage {
	if o.usage == nil {
		return o.Report.Usage
	}
	return o.usage()
}

// Met returns the first errors of the framework that were met, in their order.
func (o *Observation) Met() []apple.Met {
	if o.met == nil {
		return o.first
	}
	return o.met()
}

// Observe opens the engine behind a framework, Apple or StandIn, and tells what the
// framework said meanwhile. The Observation is there also when the engine cannot be
// opened; the error matches ane.ErrUnavailable then, or ane.ErrName for an engine that has
// no framework.
func Observe(ctx context.Context, name string) (*ane.Device, *Observation, error) {
	o := &Observation{}
	c, err := frameworkOf(name)
	if err != nil {
		return nil, o, err
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	if o.Report, o.Fault, err = inspect(ctx, c); err != nil {
		return nil, o, err
	}
	c.Observe = func(k apple.Known, met []apple.Met) { o.Known, o.first = k, met }
	start := time.Now()
	e, err := apple.Open(ctx, c)
	o.Opened = time.Since(start)
	if err != nil {
		return nil, o, err
	}
	o.met = e.Met
	o.usage = e.Usage
	d, err := ane.Open(e, "")
	return d, o, err
}

// inspect is objcbridge.Inspect, which a framework may hold up, until ctx ends.
func inspect(ctx context.Context, c apple.Config) (r objcbridge.Report, fault, late error) {
	type answer struct {
		report objcbridge.Report
		fault  error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := objcbridge.Inspect(c.Bridge)
		done <- answer{r, err}
	}()
	select {
	case a := <-done:
		return a.report, a.fault, nil
	case <-ctx.Done():
		return r, nil, &ane.Error{Op: "open", Engine: c.Name, Err: ane.Because(ane.ErrUnavailable, ane.Deadline("inspect", c.Name, ctx.Err()))}
	}
}

// frameworkOf is how to drive the framework behind an engine.
func frameworkOf(name string) (apple.Config, error) {
	switch name {
	case Apple:
		if runtime.GOOS != "darwin" || runtime.GOARCH != "arm64" {
			return apple.Config{}, &ane.Error{Op: "open", Engine: name, Err: ane.ErrUnavailable,
				Detail: fmt.Sprintf("needs macOS on Apple silicon, this is %s/%s", runtime.GOOS, runtime.GOARCH)}
		}
		return apple.Apple(), nil
	case StandIn:
		if err := standin.Probe(); err != nil {
			return apple.Config{}, err
		}
		f, err := standin.Start(standin.Options{})
		if err != nil {
			return apple.Config{}, err
		}
		return f.Config(), nil
	}
	return apple.Config{}, &ane.Error{Op: "open", Engine: name, Err: ane.ErrName, Hint: "choose " + Apple + " or " + StandIn}
}
