// Package engine finds out which engines this machine has and opens one.
//
// Nothing falls back silently: Auto takes the first engine that is available,
// and the receipt of every result then says why those before it were not.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/broker"
	"github.com/anekit/anekit/ane/device"
	"github.com/anekit/anekit/ane/interp"
	"github.com/anekit/anekit/ane/standin"
	"github.com/anekit/anekit/objcbridge"
)

// Names of engines, as the command's --engine takes them.
const (
	Auto    = "auto"    // Apple if it is available, else Soft
	Apple   = "apple"   // the Neural Engine, through Apple's private framework
	Broker  = "broker"  // the software engine in a process of its own
	Soft    = "soft"    // the software engine in this process
	StandIn = "standin" // the Objective-C bridge over stand-in classes
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
	open       func() (ane.Engine, error)
}

// candidates lists every engine, the most real first. Auto considers the
// first and the last.
func candidates() []candidate {
	return []candidate{
		{name: Apple, what: "Apple Neural Engine", probe: probeApple,
			open: func() (ane.Engine, error) { return overBridge(device.Apple()) }},
		{name: StandIn, what: "Objective-C bridge over stand-in classes, served by the software engine",
			probe: standin.Probe, open: openStandIn},
		{name: Broker, what: "software engine in a process of its own", probe: probeBroker, open: openBroker},
		{name: Soft, what: "software engine in this process", probe: func() error { return nil },
			open: func() (ane.Engine, error) { return interp.New(), nil }},
	}
}

// probeApple loads the framework and checks that it has what the bridge sends,
// and that there is hardware. It compiles nothing.
func probeApple() error {
	if runtime.GOOS != "darwin" || runtime.GOARCH != "arm64" {
		return fmt.Errorf("needs macOS on Apple silicon, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	r, err := objcbridge.Inspect(device.Apple().Bridge)
	if err == nil && r.Device.HasANE == objcbridge.AnswerNo {
		err = errors.New("the framework says that this machine has no Neural Engine; virtual machines have none")
	}
	return err
}

// openStandIn starts the stand-in framework, which then stays for the life of
// the process.
func openStandIn() (ane.Engine, error) {
	f, err := standin.Start(standin.Options{})
	if err != nil {
		return nil, err
	}
	return overBridge(f.Config())
}

func probeBroker() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("needs Linux, this is %s", runtime.GOOS)
	}
	return nil
}

// openBroker starts a broker of this process's own, or finds the shared one that
// the environment names.
func openBroker() (ane.Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), opening)
	defer cancel()
	return broker.Open(ctx, broker.Options{Path: os.Getenv(broker.Environment)})
}

// opening bounds the time for loading a framework and its known-answer run. A
// first compile takes some 30 ms.
const opening = time.Minute

func overBridge(c device.Config) (ane.Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), opening)
	defer cancel()
	e, err := device.Open(ctx, c)
	if err != nil {
		return nil, err // not e, which would be a non-nil interface
	}
	return e, nil
}

// try opens the engine if it is available.
func (c candidate) try() (ane.Engine, error) {
	if err := c.probe(); err != nil {
		return nil, err
	}
	return c.open()
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

// Open opens the engine called name. wrap, which may be nil, replaces the
// engine before anything uses it. An error matches ane.ErrUnavailable, or
// ane.ErrName when there is no such engine.
func Open(name string, wrap func(ane.Engine) ane.Engine) (*ane.Device, error) {
	var passed []string // why Auto went past an engine
	for _, c := range candidates() {
		if name != c.name && (name != Auto || c.name != Apple && c.name != Soft) {
			continue
		}
		e, err := c.try()
		if err != nil && name == Auto {
			passed = append(passed, c.name+" is not available: "+reason(err))
			continue
		}
		if err != nil {
			if errors.Is(err, ane.ErrUnavailable) {
				return nil, err
			}
			return nil, &ane.Error{Op: "open", Engine: name, Err: ane.Because(ane.ErrUnavailable, err),
				Hint: "run `ane-roundtrip info` to see what this machine has"}
		}
		if wrap != nil {
			e = wrap(e)
		}
		return ane.Open(e, strings.Join(passed, "; "))
	}
	return nil, &ane.Error{Op: "open", Engine: name, Err: ane.ErrName, Hint: "choose one of " + strings.Join(Names(), ", ")}
}
