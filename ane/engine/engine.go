// Package engine finds out which engines this machine has and opens one.
//
// Nothing falls back silently: Auto takes the first engine that is available,
// and the receipt of every result then says why those before it were not.
package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// Names of engines, as the command's --engine takes them.
const (
	Auto    = "auto"       // Apple if it is available, else Soft
	Apple   = apple.Name   // the Neural Engine, through Apple's private framework
	Broker  = broker.Name  // the software engine in a process of its own
	Soft    = soft.Name    // the software engine in this process
	StandIn = standin.Name // the Objective-C bridge over stand-in classes
)

// Status says whether an engine is available here.
type Status struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	What      string `json:"what"`
	Reason    string `json:"reason,omitempty"` // why it is not available
}

// candidate is one engine that Auto or a caller may choose.
type candidate struct {
	name, what string
	probe      func() error // nil when available
	open       func(context.Context, config) (ane.Engine, error)
}

// candidates lists every engine, the most real first. Auto considers the
// first and the last.
func candidates() []candidate {
	return []candidate{
		{name: Apple, what: "Apple Neural Engine", probe: probeApple,
			open: func(ctx context.Context, _ config) (ane.Engine, error) { return overBridge(ctx, apple.Apple()) }},
		{name: StandIn, what: "Objective-C bridge over stand-in classes, served by the software engine",
			probe: standin.Probe, open: openStandIn},
		{name: Broker, what: "software engine in a process of its own", probe: probeBroker, open: openBroker},
		{name: Soft, what: "software engine in this process", probe: func() error { return nil }, open: openSoft},
	}
}

// probeApple loads the framework and checks that it has what the bridge sends,
// and that there is hardware. It compiles nothing.
func probeApple() error {
	if runtime.GOOS != "darwin" || runtime.GOARCH != "arm64" {
		return fmt.Errorf("needs macOS on Apple silicon, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	r, err := objcbridge.Inspect(apple.Apple().Bridge)
	if err == nil && r.Device.HasANE == objcbridge.AnswerNo {
		err = errors.New("the framework says that this machine has no Neural Engine; virtual machines have none")
	}
	return err
}

// openStandIn starts the stand-in framework, which then stays for the life of
// the process.
func openStandIn(ctx context.Context, _ config) (ane.Engine, error) {
	f, err := standin.Start(standin.Options{})
	if err != nil {
		return nil, err
	}
	return overBridge(ctx, f.Config())
}

func probeBroker() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("needs Linux, this is %s", runtime.GOOS)
	}
	return nil
}

// openBroker starts a broker of this process's own, or connects to the shared one.
func openBroker(ctx context.Context, c config) (ane.Engine, error) {
	return broker.Open(ctx, broker.Options{Path: c.broker, Logger: c.log})
}

func openSoft(_ context.Context, c config) (ane.Engine, error) {
	if c.offsets {
		return soft.New(soft.AllowOffsets()), nil
	}
	return soft.New(), nil
}

// opening bounds the time for loading a framework and its known-answer run, or for
// reaching a broker. A first compile takes some 30 ms.
const opening = time.Minute

func overBridge(ctx context.Context, c apple.Config) (ane.Engine, error) {
	e, err := apple.Open(ctx, c)
	if err != nil {
		return nil, err // not e, which would be a non-nil interface
	}
	return e, nil
}

// reason is why an engine is not available, on one line and without saying again
// that it is not.
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

// Names lists what Open takes.
func Names() []string {
	names := []string{Auto}
	for _, c := range candidates() {
		names = append(names, c.name)
	}
	return names
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
