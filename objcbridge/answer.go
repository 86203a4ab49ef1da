package objcbridge

import "fmt"

// Answer is yes, no or unknown.
type Answer int32

// The answers. In JSON they are null, false and true.
const (
	AnswerUnknown Answer = -1
	AnswerNo      Answer = 0
	AnswerYes     Answer = 1
)

// String returns "yes", "no" or "unknown".
func (a Answer) String() string {
	switch a {
	case AnswerNo:
		return "no"
	case AnswerYes:
		return "yes"
	default:
		return "unknown"
	}
}

// MarshalJSON returns true, false or null. The error is nil.
func (a Answer) MarshalJSON() ([]byte, error) {
	switch a {
	case AnswerNo:
		return []byte("false"), nil
	case AnswerYes:
		return []byte("true"), nil
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON parses the output of MarshalJSON. Any other text is an error.
func (a *Answer) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "false":
		*a = AnswerNo
	case "true":
		*a = AnswerYes
	case "null":
		*a = AnswerUnknown
	default:
		return fmt.Errorf("objcbridge: %q is not an answer; use true, false or null", b)
	}
	return nil
}
