package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// failure is the error of a command in its report.
type failure struct {
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

// failureOf describes the error of a command for its report.
func failureOf(ctx context.Context, err error, checks []trial.Check) *failure {
	f := &failure{Code: exitCode(ctx, err)}
	faults := faultsOf(err)
	switch {
	case f.Code == codeInterrupted:
		f.Message = "interrupted"
	case errors.As(err, new(lintFailed)):
		f.Message = err.Error()
	case errors.Is(err, errFailed):
		f.Message = failedChecks(checks)
	case faults != nil:
		for _, e := range faults {
			f.Faults = append(f.Faults, fault{visible(e.File), e.Pos.Line, e.Pos.Col, oneLine(e.Msg), oneLine(e.Hint)})
		}
		f.Message, f.Hint = splitHint(oneLine(faultText(faults[0])), oneLine(faults[0].Hint))
		if n := len(faults); n > 1 {
			f.Message += fmt.Sprintf(", the first of %d faults", n)
		}
	default:
		f.Message, f.Hint = splitHint(textOf(err), visible(hintOf(err)))
	}
	return f
}

// failedChecks names the checks that failed.
func failedChecks(checks []trial.Check) string {
	var names []string
	for _, c := range checks {
		if c.Status == trial.Fail {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return errFailed.Error()
	}
	return fmt.Sprintf("%s: %s", counted(len(names), "check failed", "checks failed"), strings.Join(names, ", "))
}

// counted formats a number with its noun in singular or plural.
func counted(n int, one, several string) string {
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

// hintOf returns the hint of an error: that of the outermost cause whose type has one, in a field Hint or Fix.
func hintOf(err error) string {
	if err == nil {
		return ""
	}
	var input badInput
	var other *alternative
	var bridge interface{ Hint() string } // of objcbridge
	switch {
	case errors.As(err, &input) && input.hint != "":
		return input.hint
	case errors.As(err, &other):
		return strings.TrimPrefix(hintOf(other.err)+"; "+other.hint, "; ")
	}
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct {
		for _, name := range []string{"Hint", "Fix"} {
			if hint := v.FieldByName(name); hint.IsValid() && hint.Kind() == reflect.String && hint.Len() > 0 {
				return hint.String()
			}
		}
	}
	for _, cause := range causesOf(err) {
		if hint := hintOf(cause); hint != "" {
			return hint
		}
	}
	if errors.As(err, &bridge) {
		return bridge.Hint()
	}
	return ""
}
