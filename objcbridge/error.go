package objcbridge

import (
	"fmt"
	"strings"
)

// Error is the bridge's report of a failed call.
type Error struct {
	Stage      Stage  // the call
	Kind       Kind   // how it failed
	Reason     Reason // of KindRefused, else 0
	Domain     string // NSError domain, else empty
	Code       int64  // NSError code, aneb_reason or errno
	Message    string // NSError description, exception reason, or the bridge's message
	Exception  string // exception name; empty for other kinds
	HasStatus  bool   // Status and StatusType were found in the message
	Status     uint32 // the driver's status
	StatusType uint32 // the driver's type: 8 finished, 9 failed, 19 overflow, 0 unknown
	LoadStage  int    // the framework's number of the loading step that failed; 0 unknown
	Causes     []Cause
}

// Cause is an error that the framework reports as the cause of another (NSUnderlyingErrorKey).
type Cause struct {
	Domain  string `json:"domain"`
	Code    int64  `json:"code"`
	Message string `json:"text"`
}

// Error returns one line: the call, the failure, its meaning if known, and the next step.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "objcbridge: %s: %s", e.Stage, e.what())
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	for _, c := range e.Causes {
		b.WriteString(", because " + c.Message)
		if c.Code != e.Code {
			fmt.Fprintf(&b, " (code %d)", c.Code)
		}
	}
	if m := e.meaning(); m != "" {
		b.WriteString(" (" + m + ")")
	}
	if h := e.hint(); h != "" {
		b.WriteString("; " + h)
	}
	return oneLine(b.String())
}

// what describes the failure with its numbers and without the message.
func (e *Error) what() string {
	switch e.Kind {
	case KindNSError, kindContradiction:
		s := fmt.Sprintf("%s, %s code %d", e.Kind, e.Domain, e.Code)
		if e.HasStatus {
			s += fmt.Sprintf(", status 0x%x", e.Status)
		}
		if e.StatusType != 0 {
			s += fmt.Sprintf(" of type 0x%x", e.StatusType)
		}
		return s
	case kindException:
		return "exception " + e.Exception
	case KindRefused:
		return "refused, " + e.Reason.String()
	default:
		return e.Kind.String()
	}
}

// oneLine joins lines and runs of blanks with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// refuse returns an Error for a rule that Go checks before the bridge is called.
func refuse(stage Stage, reason Reason, format string, args ...any) *Error {
	return &Error{Stage: stage, Kind: KindRefused, Reason: reason, Code: int64(reason),
		Message: fmt.Sprintf(format, args...)}
}
