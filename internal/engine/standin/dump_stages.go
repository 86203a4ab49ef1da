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
		if s.words().MatchString(domain + "\n" + text) {
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
