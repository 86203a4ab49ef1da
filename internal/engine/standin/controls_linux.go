//go:build cgo

package standin

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Fault arms a fault on the next count calls of a method of the framework, named
// by its selector: -1 means until lifted, 0 lifts it. value is an NSError's code
// or milliseconds, as FaultKind says. ane.ErrName for a method that takes no such
// fault.
func (f *Framework) Fault(selector string, kind FaultKind, count int, value int64) error {
	if int(int32(count)) != count || count < -1 {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d calls", count), Hint: "give a number of calls, 0 or -1"}
	}
	l, err := f.running("fault")
	if err != nil {
		return err
	}
	if strings.ContainsRune(selector, 0) || !l.arm(selector, kind, count, value) {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrName,
			Detail: "takes no fault " + kind.String(), Hint: "standin.h says which methods take which"}
	}
	return nil
}

// ReleaseHangs lets every hanging call go on, and lifts the faults of kind Hang.
func (f *Framework) ReleaseHangs() {
	if l, err := f.running("fault"); err == nil {
		call(l.releaseHangs)
	}
}

// FireLost delivers the completions that Never has held back.
func (f *Framework) FireLost() {
	if l, err := f.running("fault"); err == nil {
		call(l.fireLost)
	}
}

// ClearFaults lifts all faults and lets hanging calls go on.
func (f *Framework) ClearFaults() {
	if l, err := f.running("fault"); err == nil {
		call(l.clearFaults)
	}
}

// Counts is what the framework has done and holds.
func (f *Framework) Counts() Counts {
	l, err := f.running("count")
	if err != nil {
		return Counts{}
	}
	return l.counts()
}

// SurfaceCounts is what CoreFoundation and IOSurface hold.
func (f *Framework) SurfaceCounts() SurfaceCounts {
	l, err := f.running("count")
	if err != nil {
		return SurfaceCounts{}
	}
	return l.surfaceCounts()
}

// Instances is the number of objects of a class alive, 0 for a class that there
// is not.
func (f *Framework) Instances(class string) int {
	l, err := f.running("count")
	if err != nil || strings.ContainsRune(class, 0) {
		return 0
	}
	return l.instancesOf(class)
}

// SetBudget sets how often the framework compiles in the life of the process, before
// compiling fails; 0 and less mean 119.
func (f *Framework) SetBudget(n int) {
	if l, err := f.running("set budget"); err == nil {
		call(l.setBudget, uintptr(int32(min(max(n, 0), math.MaxInt32))))
	}
}

// PurgeAll empties the cache of compiled programs.
func (f *Framework) PurgeAll() {
	if l, err := f.running("purge"); err == nil {
		call(l.purgeAll)
	}
}

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
	l, err := f.running("fault")
	if err == nil {
		l.failSurface(function, nth)
	}
	return err
}

// Leftovers names what of the framework and its surfaces is still alive, in use
// or held back: nothing, once all that was made with them is closed. Programs in
// the cache do not count.
func (f *Framework) Leftovers() []string {
	c, s := f.Counts(), f.SurfaceCounts()
	var left []string
	for _, n := range []struct {
		count int64
		what  string
	}{
		{c.Instances, "objects of the framework"}, {c.Loaded, "loaded programs"}, {c.Hanging, "hanging calls"},
		{c.Lost, "completions held back"}, {c.Slots, "asynchronous evaluations"}, {s.Objects,
			"objects of CoreFoundation"},
		{s.Surfaces, "surfaces"}, {s.Locks, "locks of surfaces"}, {s.Bytes, "mapped bytes of surfaces"},
	} {
		if n.count != 0 {
			left = append(left, fmt.Sprintf("%s: %d", n.what, n.count))
		}
	}
	return left
}
