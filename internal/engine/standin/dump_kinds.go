package standin

import (
	"slices"

	"github.com/anekit/anekit/internal/plist"
)

// Words of objcbridge.Kind.
const (
	kindNSError       = "NSError"
	kindNo            = "NO without an error"
	kindException     = "exception"
	kindContradiction = "YES together with an error"
	kindNil           = "nil"
	kindMissing       = "missing"
)

// readKind reads the outcome of the call and the methods with this outcome.
func (e *DumpedError) readKind(row plist.Dict) {
	if kind := row.String("kind"); kind != kindNSError {
		e.Kind = kind
	}
	e.exception = row.String("exception")
	for _, m := range methodsOf(e.Stage, e.Text) {
		fault := faultOf(e.Kind, m.returns)
		if e.Kind == "" && slices.Contains(stages[:], e.Stage) {
			fault = 0 // an NSError
		}
		if fault != 0 {
			e.fault = fault
			e.selectors = append(e.selectors, m.selector)
		}
	}
}

// faultOf returns the fault with this outcome for a method; 0 if the method cannot
// have it.
func faultOf(kind, returns string) FaultKind {
	switch {
	case kind == kindException:
		return Exception
	case kind == kindContradiction && returns == "flag and error":
		return YesError
	case kind != "" && kind != kindNil && kind != kindNo || returns == "":
		return 0
	case returns == "object":
		return Nil
	}
	return No
}

// replayable reports whether a call of the framework can have this outcome.
func (e *DumpedError) replayable() bool {
	if e.fault != 0 {
		return true
	}
	return e.Kind == "" && slices.Contains(stages[:], e.Stage)
}

// missingMethod matches a method or class that a text reports as missing, and the
// encoding found if it is another.
var missingMethod = pattern(`(?:[+-]\[)?\b(_ANE[A-Za-z0-9_]+)(?: ([A-Za-z_][A-Za-z0-9_:]*)\])?(?:.* found ([^ ;]+))?`)

// readMissing removes the method or class that a row of kind missing names. It returns
// false if the row names none.
func (d *Dump) readMissing(text string) bool {
	found := missingMethod().FindStringSubmatch(text)
	if found == nil {
		return false
	}
	types := found[3]
	if types == "nothing" {
		types = ""
	}
	d.method(found[1], found[2], types, true)
	return true
}
