// Package engine finds the engines of this machine and opens one.
//
// Auto opens the first available engine. It never falls back silently: the receipt of
// every result has the reason why a better engine is not available.
package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/objcbridge"
)

// Names of engines, also for the flag --engine of ane-roundtrip.
const (
	Auto    = "auto"       // Apple if it is available, otherwise Soft
	Apple   = apple.Name   // the Neural Engine, through Apple's private framework
	Broker  = broker.Name  // the software engine in another process
	Soft    = soft.Name    // the software engine in this process
	StandIn = standin.Name // the Objective-C bridge over stand-in classes
)

// Status reports whether an engine is available on this machine.
type Status struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	What      string `json:"what"`
	Reason    string `json:"reason,omitempty"` // why it is not available
}

// candidate is one engine that Open can open.
type candidate struct {
	name, what string
	probe      func() error // returns nil if available
	open       func(context.Context, config) (ane.Engine, error)
}

// Each candidate is a function of its own, so that a program links only those that it can open: see choices.

func candidateApple() candidate {
	return candidate{name: Apple, what: "Apple Neural Engine", probe: probeApple, open: openApple}
}

func candidateStandIn() candidate {
	return candidate{name: StandIn, what: "Objective-C bridge over stand-in classes, served by the software engine",
		probe: standin.Probe, open: openStandIn}
}

func candidateBroker() candidate {
	return candidate{name: Broker, what: "software engine in a process of its own", probe: broker.Probe, open: openBroker}
}

func candidateSoft() candidate {
	return candidate{name: Soft, what: "software engine in this process", probe: func() error { return nil }, open: openSoft}
}

// automatic lists the engines that Auto tries, the best first.
func automatic() []candidate { return []candidate{candidateApple(), candidateSoft()} }

// candidates lists every engine, the best first.
func candidates() []candidate {
	return []candidate{candidateApple(), candidateStandIn(), candidateBroker(), candidateSoft()}
}

// probeApple loads the framework and checks that it has the bridge's selectors, and that
// the machine has the hardware. It compiles nothing.
func probeApple() error {
	if err := apple.Machine(); err != nil || !host.Apple {
		return err
	}
	r, err := objcbridge.Inspect(apple.Apple().Bridge)
	if err == nil && r.Device.HasANE == objcbridge.AnswerNo {
		err = errors.New("the framework reports no Neural Engine; virtual machines have none")
	}
	return err
}

// openApple loads Apple's framework. Programs for systems that have none do not link the bridge.
func openApple(ctx context.Context, c config) (ane.Engine, error) {
	if !host.Apple {
		return nil, apple.Machine()
	}
	return overBridge(ctx, c, apple.Apple())
}

// openStandIn loads the stand-in framework, which stays loaded until the process ends.
func openStandIn(ctx context.Context, c config) (ane.Engine, error) {
	f, err := standin.Start(standin.Options{})
	if err != nil {
		return nil, err
	}
	return overBridge(ctx, c, f.Config())
}

// openBroker starts a private broker, or connects to the shared one.
func openBroker(ctx context.Context, c config) (ane.Engine, error) {
	return broker.Open(ctx, broker.Options{Path: c.broker, Workers: c.workers, Numerics: c.mode, Logger: c.log})
}

func openSoft(_ context.Context, c config) (ane.Engine, error) {
	opts := []soft.Option{soft.Numerics(c.mode)}
	if c.offsets {
		opts = append(opts, soft.AllowOffsets())
	}
	if c.workers > 0 {
		opts = append(opts, soft.Workers(c.workers))
	}
	return soft.New(opts...), nil
}

// opening is the time limit to load a framework and run its known-answer test, or to
// connect to a broker. A first compile takes about 30 ms.
const opening = time.Minute

func overBridge(ctx context.Context, c config, framework apple.Config) (ane.Engine, error) {
	framework.Bridge.KeepFiles = c.keep
	e, err := apple.Open(ctx, framework)
	if err != nil {
		return nil, err // not e, which would be a non-nil interface
	}
	return e, nil
}

// reason returns the reason why an engine is not available, on one line.
func reason(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	var e *ane.Error
	if errors.As(err, &e) && errors.Is(e.Err, ane.ErrUnavailable) {
		if _, why, found := strings.Cut(text, ane.ErrUnavailable.Error()+": "); found {
			return why
		}
	}
	return text
}

// Names lists the names that Open accepts.
func Names() []string {
	return []string{Auto, Apple, StandIn, Broker, Soft}
}

// Probe returns the status of every engine.
func Probe() []Status {
	var all []Status
	for _, c := range candidates() {
		s := Status{Name: c.name, What: c.what, Available: true}
		if err := c.probe(); err != nil {
			s.Available, s.Reason = false, reason(err)
		}
		all = append(all, s)
	}
	return all
}
