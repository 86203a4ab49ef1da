package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Failure is the error of a command in its report.
type Failure struct {
	Message string  `json:"message"`
	Hint    string  `json:"hint"` // what the user can do; may be empty
	Code    int     `json:"exit_code"`
	Faults  []fault `json:"faults,omitempty"` // the faults of a program
}

// fault is an error at one place of a program.
type fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0 if not known
	Column  int    `json:"column"` // in bytes, from 1; 0 if not known
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// FailureOf describes the error of a command for its report.
func FailureOf(ctx context.Context, err error) *Failure {
	f := &Failure{Code: ExitCode(ctx, err)}
	faults := ProgramErrors(err)
	var failed Failed
	switch {
	case f.Code == CodeInterrupted:
		f.Message = "interrupted"
	case errors.As(err, &failed):
		f.Message = failed.What
	case faults != nil:
		for _, e := range faults {
			f.Faults = append(f.Faults, fault{Visible(e.File), e.Pos.Line, e.Pos.Col, OneLine(e.Msg), OneLine(e.Hint)})
		}
		f.Message, f.Hint = splitHint(OneLine(faultText(faults[0])), OneLine(faults[0].Hint))
		if n := len(faults); n > 1 {
			f.Message += fmt.Sprintf(", the first of %d faults", n)
		}
	default:
		f.Message, f.Hint = splitHint(ErrorText(err), Visible(ErrorHint(err)))
	}
	return f
}

// Counted formats a number with its noun in singular or plural.
func Counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// splitHint removes the hint from the text of an error; both are one line.
func splitHint(text, hint string) (message, rest string) {
	if hint == "" {
		return text, ""
	}
	return strings.Replace(text, "; "+hint, "", 1), hint
}

// ErrorHint returns the hint of an error: that of the outermost cause whose type has one, in a field Hint or Fix.
func ErrorHint(err error) string {
	if err == nil {
		return ""
	}
	var input BadInput
	var other *alternative
	var bridge interface{ Hint() string } // of objcbridge
	switch {
	case errors.As(err, &input) && input.Hint != "":
		return input.Hint
	case errors.As(err, &other):
		return strings.TrimPrefix(ErrorHint(other.err)+"; "+other.hint, "; ")
	}
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct {
		for _, name := range []string{"Hint", "Fix"} {
			if hint := v.FieldByName(name); hint.IsValid() && hint.Kind() == reflect.String && hint.Len() > 0 {
				return hint.String()
			}
		}
	}
	for _, cause := range causesOf(err) {
		if hint := ErrorHint(cause); hint != "" {
			return hint
		}
	}
	if errors.As(err, &bridge) {
		return bridge.Hint()
	}
	return ""
}
