package standin

import "strconv"

// FaultKind is one way in which a method of the framework can misbehave.
type FaultKind int32

// The kinds, numbered as in standin.h. Those of completions are for methods that
// evaluate with a completion handler. Locked sees the engine's own lock on a surface
// while a request is evaluated for the first time, and only then: meanwhile other
// requests on the same surface write nothing either.
const (
	Exception  FaultKind = 1  // raises NSInternalInconsistencyException
	Nil        FaultKind = 2  // returns nil; for methods that return objects
	No         FaultKind = 3  // NO, without an NSError
	NoError    FaultKind = 4  // NO with an NSError; the value is its code
	YesError   FaultKind = 5  // does its work, returns YES, and sets an NSError
	Hang       FaultKind = 6  // blocks until ReleaseHangs, then works
	Late       FaultKind = 7  // the completion comes late; the value is in milliseconds
	Twice      FaultKind = 8  // the completion comes twice
	Never      FaultKind = 9  // the completion does not come until FireLost
	AsyncError FaultKind = 10 // the completion brings NO and an NSError of code value
	Locked     FaultKind = 11 // succeeds without writing while the CPU holds a surface locked
)

var faultNames = [...]string{
	Exception: "exception", Nil: "nil", No: "no", NoError: "no with error", YesError: "yes with error", Hang: "hang",
	Late: "late", Twice: "twice", Never: "never", AsyncError: "async error", Locked: "locked",
}

// String names the kind.
func (k FaultKind) String() string {
	if k < Exception || int(k) >= len(faultNames) {
		return "fault " + strconv.Itoa(int(k))
	}
	return faultNames[k]
}
