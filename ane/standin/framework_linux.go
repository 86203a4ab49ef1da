//go:build cgo

package standin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem/surfaces"
)

// Framework is the running stand-in. All methods may be called from several
// goroutines.
type Framework struct {
	options Options
	library *library
	server  *server
}

// Probe returns nil when the libraries can be loaded; they are, then. An error
// matches ane.ErrUnavailable and says what is missing and how to get it.
func Probe() error {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.library != nil {
		return nil
	}
	_, err := loaded("")
	return err
}

// Start starts the framework, once for the life of the process: a second Start
// with the same Options returns the same Framework, with others an error that
// matches ane.ErrInUse. Other errors match ane.ErrUnavailable, or ane.ErrName or
// ane.ErrLength for Options that mean nothing.
func Start(o Options) (*Framework, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if f := process.framework; f != nil {
		if !f.options.same(o) {
			return nil, &ane.Error{Op: "open", Engine: Name, Err: ane.ErrInUse,
				Detail: fmt.Sprintf("the framework runs already in this process, with %+v", f.options),
				Hint:   "start it once with the same Options, or use another process"}
		}
		return f, nil
	}
	l, err := loaded(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Missing, o.Changed = slices.Clone(o.Missing), slices.Clone(o.Changed)
	f := &Framework{options: o, library: l, server: newServer(l)}
	process.server.Store(f.server)
	switch code := l.begin(o); code {
	case 0:
		process.framework = f
		return f, nil
	case 1:
		return nil, &ane.Error{Op: "open", Engine: Name, Name: o.profile(), Err: ane.ErrName,
			Detail: "the library knows no such profile", Hint: "run `make bridge` to build the library of this version"}
	default:
		return nil, &ane.Error{Op: "open", Engine: Name, Err: ane.ErrInUse,
			Detail: fmt.Sprintf("standin_start returned %d: something else has started the framework in this process", code),
			Hint:   "use another process"}
	}
}

// bridgeDir is the folder in which a bridge was found.
func bridgeDir() (string, error) {
	dir, err := objcbridge.Dir()
	if err != nil {
		return "", &ane.Error{Op: "open", Engine: Name, Err: errors.Join(ane.ErrUnavailable, err)}
	}
	return dir, nil
}

// Library is the stand-in for IOSurface: Blocks opened with its Option are
// surfaces that the framework takes as they are.
func (f *Framework) Library() *surfaces.Library { return f.library.surfaces }

// Fault arms a fault on the next count calls of a method of the framework, named
// by its selector: -1 means until lifted, 0 lifts it. value is an NSError's code
// or milliseconds, as FaultKind says. ane.ErrName for a method that takes no such
// fault.
func (f *Framework) Fault(selector string, kind FaultKind, count int, value int64) error {
	if int(int32(count)) != count || count < -1 {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d calls", count), Hint: "give a number of calls, 0 or -1"}
	}
	if strings.ContainsRune(selector, 0) || !f.library.arm(selector, kind, count, value) {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrName,
			Detail: "takes no fault " + kind.String(), Hint: "standin.h says which methods take which"}
	}
	return nil
}

// ReleaseHangs lets every hanging call go on, and lifts the faults of kind Hang.
func (f *Framework) ReleaseHangs() { call(f.library.releaseHangs) }

// FireLost delivers the completions that Never has held back.
func (f *Framework) FireLost() { call(f.library.fireLost) }

// ClearFaults lifts all faults and lets hanging calls go on.
func (f *Framework) ClearFaults() { call(f.library.clearFaults) }

// Counts is what the framework has done and holds.
func (f *Framework) Counts() Counts { return f.library.counts() }

// SurfaceCounts is what CoreFoundation and IOSurface hold.
func (f *Framework) SurfaceCounts() SurfaceCounts { return f.library.surfaceCounts() }

// Instances is the number of objects of a class alive, 0 for a class that there
// is not.
func (f *Framework) Instances(class string) int {
	if strings.ContainsRune(class, 0) {
		return 0
	}
	return f.library.instancesOf(class)
}

// SetBudget grants n compiles more; after them compiling fails.
func (f *Framework) SetBudget(n int) { call(f.library.setBudget, uintptr(int32(n))) }

// PurgeAll empties the cache of compiled programs.
func (f *Framework) PurgeAll() { call(f.library.purgeAll) }

// failing are the functions that FailSurface can have fail.
var failing = [...]string{
	"CFDictionaryCreateMutable", "CFNumberCreate", "IOSurfaceCreate", "IOSurfaceLookup", "IOSurfaceLock",
	"IOSurfaceUnlock", "IOSurfaceGetBaseAddress", "IOSurfaceGetAllocSize", "IOSurfaceGetID",
}

// FailSurface has the nth coming call of a function of CoreFoundation or
// IOSurface fail as Apple's would; 0 lifts the fault. ane.ErrName for a function
// that cannot be made to fail, ane.ErrLength for a negative nth.
func (f *Framework) FailSurface(function string, nth int) error {
	if !slices.Contains(failing[:], function) {
		return &ane.Error{Op: "fault", Engine: Name, Name: function, Err: ane.ErrName,
			Hint: "choose one of " + strings.Join(failing[:], ", ")}
	}
	if int(int32(nth)) != nth || nth < 0 {
		return &ane.Error{Op: "fault", Engine: Name, Name: function, Err: ane.ErrLength,
			Detail: fmt.Sprintf("call %d", nth), Hint: "count calls from 1; 0 lifts the fault"}
	}
	f.library.failSurface(function, nth)
	return nil
}
