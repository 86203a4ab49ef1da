package standin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Fault arms a fault for the next count calls of a method of the framework, named by
// its selector. count -1 means until disarmed; 0 disarms it. value is the code of an
// NSError; see FaultKind. The error is ane.ErrName if the method
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
	if strings.ContainsRune(selector, 0) || l.fault(selector, kind, int32(count), value) != 0 {
		return &ane.Error{Op: "fault", Engine: Name, Name: selector, Err: ane.ErrName,
			Detail: "does not support the fault " + kind.String(), Hint: "see standin.h for the faults of each method"}
	}
	return nil
}

// ReleaseHangs lets hanging calls continue and disarms the faults of kind Hang.
func (f *Framework) ReleaseHangs() {
	if l, err := f.running("fault"); err == nil {
		l.releaseHangs()
	}
}

// ClearFaults disarms all faults and lets hanging calls continue.
func (f *Framework) ClearFaults() {
	if l, err := f.running("fault"); err == nil {
		l.clearFaults()
	}
}

// Counts returns the counts of the framework's work and objects.
func (f *Framework) Counts() (c Counts) {
	if l, err := f.running("count"); err == nil {
		l.count(&c)
	}
	return c
}

// SurfaceCounts returns the counts of CoreFoundation and IOSurface.
func (f *Framework) SurfaceCounts() (c SurfaceCounts) {
	if l, err := f.running("count"); err == nil {
		l.surfaceCount(&c)
	}
	return c
}

// Instances returns the number of live objects of a class, or 0 for an unknown
// class.
func (f *Framework) Instances(class string) int {
	l, err := f.running("count")
	if err != nil || strings.ContainsRune(class, 0) {
		return 0
	}
	return int(l.instances(class))
}

// PurgeAll empties the cache of compiled programs.
func (f *Framework) PurgeAll() {
	if l, err := f.running("purge"); err == nil {
		l.purgeAll()
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
		l.surfaceFail(function, int32(nth))
	}
	return err
}

// Leftovers lists what the framework and its surfaces still have alive or in
// use. It is empty after everything made with them is closed. Programs in the
// cache do not count.
func (f *Framework) Leftovers() []string {
	c, s := f.Counts(), f.SurfaceCounts()
	var left []string
	for _, n := range []struct {
		count int64
		what  string
	}{
		{c.Instances, "objects of the framework"}, {c.Loaded, "loaded programs"}, {c.Hanging, "hanging calls"},
		{s.Objects, "objects of CoreFoundation"},
		{s.Surfaces, "surfaces"}, {s.Locks, "locks of surfaces"}, {s.Bytes, "mapped bytes of surfaces"},
	} {
		if n.count != 0 {
			left = append(left, fmt.Sprintf("%s: %d", n.what, n.count))
		}
	}
	return left
}

// Counts are the counts of the framework's work and objects. The order of the
// fields is that of standin_counts in standin.h.
type Counts struct {
	Compiles, Held, Cached, Loaded int64 // programs compiled; slots held; programs in the cache, loaded
	Instances                      int64 // live objects of the framework's classes
	Hanging, Lost                  int64 // blocked calls, withheld completions
	Evaluations, Slots             int64 // evaluations served; asynchronous ones in flight
	Loads, Procedures              int64 // loads since the start; procedures of the loaded programs
	Wired, Pageable                int64 // loads with the option to keep memory wired, 1 and 0
}

// SurfaceCounts are the counts of the stand-in CoreFoundation and IOSurface.
// The order of the fields is that of standin_surface_stats in standin.h.
type SurfaceCounts struct {
	Objects, Surfaces int64 // live CoreFoundation objects, including surfaces; live surfaces
	Locks             int64 // locks held over all surfaces
	Bytes             int64 // mapped
	Retains, Releases int64 // since the start
}

// FaultKind is a kind of misbehaviour of a method of the framework.
type FaultKind int32

// The kinds have the numbers of standin.h, which has more. Locked takes effect only while a request is evaluated for
// the first time, when the engine's own lock is on the surface. Meanwhile other requests on that surface write nothing
// either.
const (
	Exception FaultKind = 1  // raises NSInternalInconsistencyException
	Nil       FaultKind = 2  // returns nil; for methods that return objects
	No        FaultKind = 3  // returns NO without an NSError
	NoError   FaultKind = 4  // returns NO with an NSError; the value is its code
	YesError  FaultKind = 5  // works, returns YES, and sets an NSError
	Hang      FaultKind = 6  // blocks until ReleaseHangs, then continues
	Locked    FaultKind = 11 // succeeds without writing while the CPU holds a surface locked
)

var faultNames = [...]string{
	Exception: "exception", Nil: "nil", No: "no", NoError: "no with error", YesError: "yes with error", Hang: "hang",
	Locked: "locked",
}

// String returns the name of the kind.
func (k FaultKind) String() string {
	if k < Exception || int(k) >= len(faultNames) || faultNames[k] == "" {
		return "fault " + strconv.Itoa(int(k))
	}
	return faultNames[k]
}
