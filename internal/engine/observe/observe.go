// Package observe opens the engines that have a framework and records the framework's facts
// about the machine. The command writes dumps from them.
package observe

import (
	"context"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// Observation holds a framework's facts about the machine and the known-answer program, and its
// errors. A dump of the machine consists of it.
type Observation struct {
	Known  apple.Known
	Report objcbridge.Report
	Fault  error         // the reason for missing parts of Report, or nil
	Opened time.Duration // from loading the framework to the end of the known-answer run

	first  []apple.Met   // errors while the engine was opened
	engine *apple.Engine // nil if it was not opened
}

// Usage returns how much of the framework's limits this process has used; zero if the engine
// was not opened.
func (o *Observation) Usage() objcbridge.Usage {
	if o.engine == nil {
		return o.Report.Usage
	}
	return o.engine.Usage()
}

// Met returns the first errors of the framework, in order of occurrence.
func (o *Observation) Met() []apple.Met {
	if o.engine == nil {
		return o.first
	}
	return o.engine.Met()
}

// timeout bounds loading a framework and its known-answer run. A first compile takes about 30
// ms.
const timeout = time.Minute

// Open opens an engine that has a framework, apple or standin, and records the framework's
// facts. It returns an Observation even if the engine cannot be opened. The error then matches
// ane.ErrUnavailable, or ane.ErrName for an engine without a framework.
func Open(ctx context.Context, name string) (*ane.Device, *Observation, error) {
	o := &Observation{}
	c, err := frameworkOf(name)
	if err != nil {
		return nil, o, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if o.Report, o.Fault, err = inspect(ctx, c); err != nil {
		return nil, o, err
	}
	c.Observe = func(k apple.Known, errs []apple.Met) { o.Known, o.first = k, errs }
	start := time.Now()
	e, err := apple.Open(ctx, c)
	o.Opened = time.Since(start)
	if err != nil {
		return nil, o, err
	}
	o.engine = e
	d, err := ane.Open(e, "")
	return d, o, err
}

// Inspect loads the framework of an engine and compiles nothing. It reports the self-check of every method that the
// bridge sends, the device, and the process's usage. The report holds the known facts even if the error is not nil. The
// error is ane.ErrName for an engine without a framework.
func Inspect(name string) (objcbridge.Report, error) {
	c, err := frameworkOf(name)
	if err != nil {
		return objcbridge.Report{}, err
	}
	return objcbridge.Inspect(c.Bridge)
}

// inspect calls objcbridge.Inspect, which may hang, until ctx ends.
func inspect(ctx context.Context, c apple.Config) (r objcbridge.Report, fault, late error) {
	type result struct {
		report objcbridge.Report
		fault  error
	}
	done := make(chan result, 1)
	go func() {
		r, err := objcbridge.Inspect(c.Bridge)
		done <- result{r, err}
	}()
	select {
	case a := <-done:
		return a.report, a.fault, nil
	case <-ctx.Done():
		return r, nil, &ane.Error{Op: "open", Engine: c.Name,
			Err: ane.Because(ane.ErrUnavailable, ane.Deadline("inspect", c.Name, ctx.Err()))}
	}
}

// frameworkOf returns the configuration of the framework of an engine.
func frameworkOf(name string) (apple.Config, error) {
	switch name {
	case apple.Name:
		if err := apple.Machine(); err != nil {
			return apple.Config{}, &ane.Error{Op: "open", Engine: name, Err: ane.ErrUnavailable, Detail: err.Error()}
		}
		return apple.Apple(), nil
	case standin.Name:
		if err := standin.Probe(); err != nil {
			return apple.Config{}, err
		}
		f, err := standin.Start(standin.Options{})
		if err != nil {
			return apple.Config{}, err
		}
		return f.Config(), nil
	}
	return apple.Config{}, &ane.Error{Op: "open", Engine: name, Err: ane.ErrName,
		Hint: "choose " + apple.Name + " or " + standin.Name}
}
