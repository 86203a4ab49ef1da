package standin

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// stages are those whose calls can return an NSError.
var stages = [...]string{"compile", "load", "evaluate", "map", "unload", "chaining"}

// otherStages are the other words of objcbridge.Stage.
var otherStages = [...]string{"create", "describe", "request", "surface", "purge", "device", "open", "check", "close"}

// dumpedMethod is a method that can fail other than with an NSError.
type dumpedMethod struct {
	selector, stage string
	returns         string // "object", "flag", "flag and error", or "" if it cannot fail
	leads           bool   // the default for its stage if a text names no method
}

var dumpedMethods = [...]dumpedMethod{
	{"modelWithMILText:weights:optionsPlist:", "create", "object", true},
	{"inMemoryModelWithDescriptor:", "create", "object", false},
	{"hexStringIdentifier", "create", "object", false},
	{"localModelPath", "create", "object", false},
	{"compileWithQoS:options:error:", "compile", "flag and error", true},
	{"compiledModelExists", "compile", "flag", false},
	{"loadWithQoS:options:error:", "load", "flag and error", true},
	{"modelAttributes", "describe", "object", true},
	{"objectWithIOSurface:", "surface", "object", true},
	{"requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:", "request",
		"object", true},
	{"validate", "request", "flag", false},
	{"evaluateWithQoS:options:request:error:", "evaluate", "flag and error", true},
	{"doEvaluateDirectWithModel:options:request:qos:error:", "evaluate", "flag and error", true},
	{"mapIOSurfacesWithRequest:cacheInference:error:", "map", "flag and error", true},
	{"unloadWithQoS:error:", "unload", "flag and error", true},
	{"purgeCompiledModel", "purge", "", true},
	{"sharedConnection", "device", "object", false},
}

// stageOf returns the stage that a row names, or else the stage of its text or code;
// empty if none.
func stageOf(row plist.Dict, domain, text string, code int64) string {
	named := row.String("stage")
	if slices.Contains(stages[:], named) || slices.Contains(otherStages[:], named) {
		return named
	}
	for _, message := range [...]string{named, text} {
		if m := methodIn(message); m != nil {
			return m.stage
		}
	}
	for _, s := range stageWords {
		if s.words.get().MatchString(domain + "\n" + text) {
			return s.stage
		}
	}
	if domain != errorDomain {
		return ""
	}
	return stageCodes[code]
}

// methodIn returns the method with the longest selector in a text; nil if the text has
// no selector with an argument.
func methodIn(text string) (found *dumpedMethod) {
	for i, m := range dumpedMethods {
		if strings.Contains(text, m.selector) && strings.Contains(m.selector, ":") &&
			(found == nil || len(m.selector) > len(found.selector)) {
			found = &dumpedMethods[i]
		}
	}
	return found
}

// methodsOf returns the methods of a stage that a text names, or else the defaults of
// the stage.
func methodsOf(stage, text string) (named []dumpedMethod) {
	var lead []dumpedMethod
	for _, m := range dumpedMethods {
		if m.stage != stage {
			continue
		}
		if strings.Contains(text, m.selector) {
			named = append(named, m)
		}
		if m.leads {
			lead = append(lead, m)
		}
	}
	if named != nil {
		return named
	}
	return lead
}

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
var missingMethod = &pattern{text: `(?:[+-]\[)?\b(_ANE[A-Za-z0-9_]+)(?: ([A-Za-z_][A-Za-z0-9_:]*)\])?(?:.* found ([^ ;]+))?`}

// readMissing removes the method or class that a row of kind missing names. It returns
// false if the row names none.
func (d *Dump) readMissing(text string) bool {
	found := missingMethod.get().FindStringSubmatch(text)
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
