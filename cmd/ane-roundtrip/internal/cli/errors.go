package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

// Exit codes of the command.
const (
	CodePass        = 0
	CodeFail        = 1
	CodeUsage       = 2 // wrong usage or bad input
	CodeUnavailable = 3
	CodeCut         = 4   // a broker ended with calls in flight
	CodeInterrupted = 130 // 128 + SIGINT, as in shells
)

// Failed is the error of a command that printed what failed. Its text is for the report alone.
type Failed struct{ What string }

func (f Failed) Error() string { return f.What }

// BadInput marks an error that the user has to fix: wrong usage, a wrong file, a wrong program, a full disk.
type BadInput struct {
	Err  error
	Hint string // the end of the message, what the user can do; may be empty
	// system is true if the input is right and the system failed: the status is that of a failed command.
	system bool
}

func (b BadInput) Error() string { return b.Err.Error() }
func (b BadInput) Unwrap() error { return b.Err }

// Bad marks err as bad input; nil stays nil.
func Bad(err error) error {
	if err == nil {
		return nil
	}
	return BadInput{Err: err}
}

// Badf returns bad input with a formatted message: the fault and, after the first semicolon, the hint.
func Badf(format string, args ...any) error { return hinted(false, format, args) }

// Failf returns an error of the system with a message as Badf makes it.
func Failf(format string, args ...any) error { return hinted(true, format, args) }

func hinted(system bool, format string, args []any) error {
	b := BadInput{Err: fmt.Errorf(format, args...), system: system}
	if what, hint, ok := strings.Cut(format, "; "); ok {
		used := strings.Count(strings.ReplaceAll(what, "%%", ""), "%")
		b.Hint = fmt.Errorf(hint, args[used:]...).Error()
	}
	return b
}

// OwnEnd is an error of a command that a signal ends in an orderly way: the signal does not explain it.
type OwnEnd struct{ Cause error }

func (e OwnEnd) Error() string { return e.Cause.Error() }
func (e OwnEnd) Unwrap() error { return e.Cause }

// ExitCode returns the exit status for an error.
func ExitCode(ctx context.Context, err error) int {
	var input BadInput
	switch {
	case err == nil:
		return CodePass
	case errors.Is(err, server.ErrCut):
		return CodeCut
	case errors.As(err, new(OwnEnd)):
		return CodeFail
	case ctx.Err() != nil:
		return CodeInterrupted
	case errors.Is(err, ane.ErrUnavailable):
		return CodeUnavailable
	case errors.As(err, &input) && !input.system:
		return CodeUsage
	}
	return CodeFail
}

// ProgramErrors returns the errors that err lists for a program; nil for another kind of error.
func ProgramErrors(err error) mil.ErrorList {
	var list mil.ErrorList
	var one *mil.Error
	switch {
	case errors.Is(err, ane.ErrUnavailable): // may wrap the error of a program that the engine compiles as a probe
	case errors.As(err, new(*coreml.Error)): // names the model, whose program has no text
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return mil.ErrorList{one}
	}
	return nil
}

// Failure is the error of a command in its report.
type Failure struct {
	Message string  `json:"message"`
	Hint    string  `json:"hint"` // what the user can do; may be empty
	Code    int     `json:"exit_code"`
	Faults  []fault `json:"faults,omitempty"` // the faults of a program

	text string // message and hint
}

// fault is an error at one place of a program.
type fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0 if not known
	Column  int    `json:"column"` // in bytes, from 1; 0 if not known
	Message string `json:"message"`
	Hint    string `json:"hint"`

	text string // place, message and hint
}

// failureOf describes the error of a command.
func failureOf(ctx context.Context, err error) *Failure {
	f := &Failure{Code: ExitCode(ctx, err)}
	faults := ProgramErrors(err)
	var failed Failed
	switch {
	case f.Code == CodeInterrupted:
		f.text = "interrupted"
	case errors.As(err, &failed):
		f.text = failed.What
	case faults != nil:
		for _, e := range faults {
			shown := *e
			shown.File = Visible(e.File)
			f.Faults = append(f.Faults, fault{shown.File, e.Pos.Line, e.Pos.Col, OneLine(e.Msg), OneLine(e.Hint),
				OneLine(shown.Error())})
		}
		f.text, f.Hint = f.Faults[0].text, f.Faults[0].Hint
	default:
		f.text, f.Hint = ErrorText(err), Visible(ErrorHint(err))
	}
	f.Message = f.text
	if f.Hint != "" {
		f.Message = strings.Replace(f.text, "; "+f.Hint, "", 1)
	}
	if n := len(f.Faults); n > 1 {
		f.Message += fmt.Sprintf(", the first of %d faults", n)
	}
	return f
}

// explain prints an error on one line. For a program it prints one line for each fault:
// FILE:LINE:COL: fault; hint, and below it the line of the program with a caret under the place.
func (a *App) explain(ctx context.Context, err error) {
	if err == nil || errors.As(err, new(Failed)) {
		return
	}
	f := failureOf(ctx, err)
	if f.Faults == nil {
		a.Logf("ane-roundtrip: %s", f.text)
		return
	}
	for i, e := range ProgramErrors(err) {
		a.Logf("%s", f.Faults[i].text)
		text := terminal.Excerpt(a.programs[e.File], e.Pos.Line, e.Pos.Col, terminal.Width(a.Err))
		if text != "" {
			fmt.Fprintln(a.Err, text)
		}
	}
}

// ErrorText is the text of an error on one line, empty without an error. Semicolons separate joined errors, each text
// once. Other line breaks, such as those in names of files, are escaped as all control characters are.
func ErrorText(err error) string { return strings.Join(linesOf(err), "; ") }

// linesOf returns the texts of joined errors, each once; for another error its text.
func linesOf(err error) (lines []string) {
	if err == nil {
		return nil
	}
	var parts []string
	causes := causesOf(err)
	for _, cause := range causes {
		parts = append(parts, cause.Error())
	}
	text := err.Error()
	if text == strings.Join(parts, "\n") {
		for _, cause := range causes {
			for _, line := range linesOf(cause) {
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		return lines
	}
	out := ""
	for i, cause := range causes {
		if before, after, found := strings.Cut(text, parts[i]); found && parts[i] != "" {
			out, text = out+Visible(before)+ErrorText(cause), after
		}
	}
	return []string{out + Visible(text)}
}

// causesOf returns the errors that err wraps.
func causesOf(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.DeleteFunc(slices.Clone(all.Unwrap()), func(err error) bool { return err == nil })
	}
	if cause := errors.Unwrap(err); cause != nil {
		return []error{cause}
	}
	return nil
}

// OneLine joins the lines of a message and escapes control characters.
func OneLine(s string) string {
	return Visible(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// ErrorHint returns the hint of an error: that of the outermost cause whose type has one, as a method Hint or in a field
// Hint or Fix.
func ErrorHint(err error) string {
	if e, ok := err.(interface{ Hint() string }); ok && e.Hint() != "" {
		return e.Hint()
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
	return ""
}
