// Package engine finds out which engines this machine has and opens one.
//
// Nothing falls back silently: Auto takes the first engine that is available,
// and the receipt of every result then says why those before it were not.
package engine

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/interp"
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
	open       func() ane.Engine
}

// available returns nil, or why the engine cannot be opened.
func (c candidate) available() error {
	if err := c.probe(); err != nil {
		return err
	}
	if c.open == nil {
		return errors.New("this version of anekit cannot open it yet")
	}
	return nil
}

// candidates lists every engine, the most real first. Auto considers the
// first and the last.
func candidates() []candidate {
	return []candidate{
		{name: Apple, what: "Apple Neural Engine", probe: func() error {
			if runtime.GOOS != "darwin" || runtime.GOARCH != "arm64" {
				return fmt.Errorf("needs macOS on Apple silicon, this is %s/%s", runtime.GOOS, runtime.GOARCH)
			}
			return objcbridge.Probe()
		}},
		{name: StandIn, what: "Objective-C bridge over stand-in classes", probe: objcbridge.Probe},
		{name: Broker, what: "software engine in a process of its own", probe: func() error {
			return fmt.Errorf("this version of anekit has no broker yet")
		}},
		{name: Soft, what: "software engine in this process", probe: func() error { return nil },
			open: func() ane.Engine { return interp.New() }},
	}
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
		if err := c.available(); err != nil {
			s.Available, s.Reason = false, err.Error()
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
		if err := c.available(); err != nil {
			if name == Auto {
				passed = append(passed, c.name+" is not available: "+err.Error())
				continue
			}
			return nil, &ane.Error{Op: "open", Engine: name, Err: ane.ErrUnavailable, Detail: err.Error(),
				Hint: "run `ane-roundtrip info` to see what this machine has"}
		}
		e := c.open()
		if wrap != nil {
			e = wrap(e)
		}
		return ane.Open(e, strings.Join(passed, "; "))
	}
	return nil, &ane.Error{Op: "open", Engine: name, Err: ane.ErrName, Hint: "choose one of " + strings.Join(Names(), ", ")}
}
