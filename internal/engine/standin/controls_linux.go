//go:build cgo

package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Fault arms a fault for the next count calls of a method of the framework, named by
// its selector. count -1 means until disarmed; 0 disarms it. value is the code of an
// NSError or milliseconds; see FaultKind. The error is ane.ErrName if the method
// does not support the fault.
func (f *Framework) Fault(selector string, kind FaultKind, count int, value int64) error {
	if int(int32(count)) != count || count < -1 {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d calls", count), Hint: "use a number of calls, 0 or -1"}
	}
	l, err := f.running("fault")
	if err != nil {
		return err
	}
	if strings.ContainsRune(selector, 0) || !l.arm(selector, kind, count, value) {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrName,
			Detail: "does not support the fault " + kind.String(), Hint: "see standin.h for the faults of each method"}
	}
	return nil
}

// ReleaseHangs lets hanging calls continue and disarms the faults of kind Hang.
func (f *Framework) ReleaseHangs() {
	if l, err := f.running("fault"); err == nil {
		call(l.releaseHangs)
	}
}

// FireLost delivers the completions that Never has withheld.
func (f *Framework) FireLost() {
	if l, err := f.running("fault"); err == nil {
		call(l.fireLost)
	}
}

// ClearFaults disarms all faults and lets hanging calls continue.
func (f *Framework) ClearFaults() {
	if l, err := f.running("fault"); err == nil {
		call(l.clearFaults)
	}
}

// Counts returns the counts of the framework's work and objects.
func (f *Framework) Counts() Counts {
	l, err := f.running("count")
	if err != nil {
		return Counts{}
	}
	return l.counts()
}

// SurfaceCounts returns the counts of CoreFoundation and IOSurface.
func (f *Framework) SurfaceCounts() SurfaceCounts {
	l, err := f.running("count")
	if err != nil {
		return SurfaceCounts{}
	}
	return l.surfaceCounts()
}

// Instances returns the number of live objects of a class, or 0 for an unknown
// class.
func (f *Framework) Instances(class string) int {
	l, err := f.running("count")
	if err != nil || strings.ContainsRune(class, 0) {
		return 0
	}
	return l.instancesOf(class)
}

// PurgeAll empties the cache of compiled programs.
func (f *Framework) PurgeAll() {
	if l, err := f.running("purge"); err == nil {
		call(l.purgeAll)
	}
}

// failing are the functions that FailSurface supports.
var failing = [...]string{
	"CFDictionaryCreateMutable", "CFNumberCreate", "IOSurfaceCreate", "IOSurfaceLookup", "IOSurfaceLock",
	"IOSurfaceUnlock", "IOSurfaceGetBaseAddress", "IOSurfaceGetAllocSize", "IOSurfaceGetID",
}

// FailSurface makes the nth call from now of a function of CoreFoundation or
// IOSurface fail as Apple's would; 0 disarms the fault. The error is ane.ErrName for
// another function and ane.ErrLength for a negative nth.
func (f *Framework) FailSurface(function string, nth int) error {
	if !slices.Contains(failing[:], function) {
		return &ane.Error{Op: "fault", Engine: Name, Name: function, Err: ane.ErrName,
			Hint: "choose one of " + strings.Join(failing[:], ", ")}
	}
	if int(int32(nth)) != nth || nth < 0 {
		return &ane.Error{Op: "fault", Engine: Name, Name: function, Err: ane.ErrLength,
			Detail: fmt.Sprintf("call %d", nth), Hint: "use 1 for the next call, 0 to disarm the fault"}
	}
	l, err := f.running("fault")
	if err == nil {
		l.failSurface(function, nth)
	}
	return err
}

// Leftovers lists what the framework and its surfaces still have alive, in use or
// withheld. It is empty after everything made with them is closed. Programs in the
// cache do not count.
func (f *Framework) Leftovers() []string {
	c, s := f.Counts(), f.SurfaceCounts()
	var left []string
	for _, n := range []struct {
		count int64
		what  string
	}{
		{c.Instances, "objects of the framework"}, {c.Loaded, "loaded programs"}, {c.Hanging, "hanging calls"},
		{c.Lost, "completions withheld"}, {c.Slots, "asynchronous evaluations"}, {s.Objects,
			"objects of CoreFoundation"},
		{s.Surfaces, "surfaces"}, {s.Locks, "locks of surfaces"}, {s.Bytes, "mapped bytes of surfaces"},
	} {
		if n.count != 0 {
			left = append(left, fmt.Sprintf("%s: %d", n.what, n.count))
		}
	}
	return left
}
