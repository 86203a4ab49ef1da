package standin

import (
	"regexp"
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

// ending reads how the call ended, and which methods end so.
func (e *DumpedError) ending(row plist.Dict) {
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

// faultOf is what a method does that ends so; 0 where it cannot.
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

// can reports whether the framework has a call that can end so.
func (e *DumpedError) can() bool {
	if e.fault != 0 {
		return true
	}
	return e.Kind == "" && slices.Contains(stages[:], e.Stage)
}

// missingMethod is a method, or class, that a text says is missing, and what was found
// where it has another encoding.
var missingMethod = regexp.MustCompile(`(?:[+-]\[)?\b(_ANE[A-Za-z0-9_]+)(?: ([A-Za-z_][A-Za-z0-9_:]*)\])?(?:.* found ([^ ;]+))?`)

// readMissing takes away what a row of the kind missing names. It reports whether it
// names anything.
func (d *Dump) readMissing(text string) bool {
	found := missingMethod.FindStringSubmatch(text)
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
