package objcbridge

import "strconv"

// Stage is the call that failed. The numbers are those of enum aneb_stage in src/bridge.h.
type Stage int32

// The stages of a program's life, in order. String has a word for those without an exported name too.
const (
	stageOpen Stage = iota + 1
	stageCheck
	stageDevice
	stageSurface
	StageCreate
	StageCompile
	StageLoad
	stageDescribe
	stageRequest
	StageEvaluate
	stageUnload
	stagePurge
	stageClose
)

var stageNames = [...]string{"", "open", "check", "device", "surface", "create", "compile", "load",
	"describe", "request", "evaluate", "unload", "purge", "close"}

// String returns the stage in one word: "compile".
func (s Stage) String() string { return name(stageNames[:], int32(s), "stage ") }

// Kind is how a call failed. The numbers are those of enum aneb_kind in src/bridge.h.
type Kind int32

// The kinds of failure. String has words for those without an exported name too.
const (
	KindNSError       Kind = iota + 1 // NO or nil, with an NSError
	KindNo                            // NO without an NSError
	kindException                     // an Objective-C exception, caught in the bridge
	kindContradiction                 // YES together with an NSError; counts as failed
	kindNil                           // a factory returned nil
	KindMissing                       // library, class or selector missing, or encoding changed
	KindRefused                       // rejected by a rule of the bridge; see Reason
)

var kindNames = [...]string{"", "NSError", "NO without an error", "exception", "YES together with an error",
	"nil", "missing", "refused"}

// String returns the kind in a few words.
func (k Kind) String() string { return name(kindNames[:], int32(k), "kind ") }

// Reason is the rule of a KindRefused. The numbers are those of enum aneb_reason in src/bridge.h.
type Reason int32

// The rules of the bridge.
const (
	ReasonArgument Reason = iota + 1 // nil, empty or out of range
	ReasonShort                      // a surface shorter than the program needs
	ReasonOffset                     // a start offset: the engine reads surfaces from byte 0
	ReasonIndex                      // a symbol or procedure that the program does not have
	ReasonCrowded                    // this process has reached its limit of loaded programs
	ReasonState                      // closed, not compiled, not loaded, still in use, or in flight
	ReasonFile                       // the program's files cannot be written
	ReasonReload                     // the compiled program and its files are gone
	ReasonHeld                       // another process compiles or loads the same program
)

var reasonNames = [...]string{"", "bad argument", "surface too short", "surface at an offset", "no such index",
	"too many programs loaded", "wrong state", "files cannot be written", "compiled program is gone",
	"held by another process"}

// String returns the reason in a few words.
func (r Reason) String() string { return name(reasonNames[:], int32(r), "reason ") }

// name looks up n. It prints a number that a later bridge may have added.
func name(names []string, n int32, what string) string {
	if n > 0 && int(n) < len(names) {
		return names[n]
	}
	return what + strconv.Itoa(int(n))
}
