package standin

import "strconv"

// FaultKind is a kind of misbehaviour of a method of the framework.
type FaultKind int32

// The kinds have the numbers of standin.h. Late to AsyncError are for methods that
// evaluate with a completion handler. Locked takes effect only while a request is
// evaluated for the first time, when the engine's own lock is on the surface:
// meanwhile other requests on the same surface write nothing either.
const (
	Exception  FaultKind = 1  // raises NSInternalInconsistencyException
	Nil        FaultKind = 2  // returns nil; for methods that return objects
	No         FaultKind = 3  // returns NO without an NSError
	NoError    FaultKind = 4  // returns NO with an NSError; the value is its code
	YesError   FaultKind = 5  // works, returns YES, and sets an NSError
	Hang       FaultKind = 6  // blocks until ReleaseHangs, then continues
	Late       FaultKind = 7  // calls the completion late; the value is in milliseconds
	Twice      FaultKind = 8  // calls the completion twice
	Never      FaultKind = 9  // withholds the completion until FireLost
	AsyncError FaultKind = 10 // calls the completion with NO and an NSError of code value
	Locked     FaultKind = 11 // succeeds without writing while the CPU holds a surface locked
)

var faultNames = [...]string{
	Exception: "exception", Nil: "nil", No: "no", NoError: "no with error", YesError: "yes with error", Hang: "hang",
	Late: "late", Twice: "twice", Never: "never", AsyncError: "async error", Locked: "locked",
}

// String returns the name of the kind.
func (k FaultKind) String() string {
	if k < Exception || int(k) >= len(faultNames) {
		return "fault " + strconv.Itoa(int(k))
	}
	return faultNames[k]
}
