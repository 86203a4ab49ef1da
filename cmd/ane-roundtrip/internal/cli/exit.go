package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
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
func Badf(format string, args ...any) error { return hinted(format, args...) }

// Failf returns an error of the system with a message as Badf makes it.
func Failf(format string, args ...any) error {
	b := hinted(format, args...)
	b.system = true
	return b
}

func hinted(format string, args ...any) BadInput {
	b := BadInput{Err: fmt.Errorf(format, args...)}
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
	var own OwnEnd
	switch {
	case err == nil:
		return CodePass
	case errors.Is(err, server.ErrCut):
		return CodeCut
	case errors.As(err, &own):
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
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return mil.ErrorList{one}
	}
	return nil
}

// Explain prints an error on one line. For a program it prints one line for each fault:
// FILE:LINE:COL: fault; hint, and below it the line of the program with a caret under the place.
func Explain(ctx context.Context, w io.Writer, err error, programs map[string][]byte) {
	var own OwnEnd
	line := func(text string) { fmt.Fprintln(w, page.Fold(text, page.Width(w), 2)) }
	switch faults := ProgramErrors(err); {
	case err == nil || errors.As(err, new(Failed)):
	case ctx.Err() != nil && !errors.As(err, &own):
		line("ane-roundtrip: interrupted")
	case faults != nil:
		for _, e := range faults {
			line(OneLine(faultText(e)))
			if text := mil.Excerpt(programs[e.File], e.Pos, page.Width(w)); text != "" {
				fmt.Fprintln(w, text)
			}
		}
	default:
		line("ane-roundtrip: " + ErrorText(err))
	}
}

// faultText is the text of a fault, with line breaks in the name of its file escaped.
func faultText(e *mil.Error) string {
	shown := *e
	shown.File = Visible(e.File)
	return shown.Error()
}

// ErrorText is the text of an error on one line. Joined errors follow each other after semicolons, those of one text
// once; other line breaks, such as those in names of files, are escaped as all control characters are.
func ErrorText(err error) string { return strings.Join(linesOf(err), "; ") }

// linesOf returns the texts of joined errors, each once; for another error its text.
func linesOf(err error) (lines []string) {
	text := err.Error()
	causes := causesOf(err)
	parts := make([]string, len(causes))
	for i, cause := range causes {
		parts[i] = cause.Error()
	}
	if len(causes) > 0 && text == strings.Join(parts, "\n") {
		for _, cause := range causes {
			for _, line := range linesOf(cause) {
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		return lines
	}
	var out strings.Builder
	for i, cause := range causes {
		if before, after, found := strings.Cut(text, parts[i]); found && parts[i] != "" {
			out.WriteString(Visible(before) + ErrorText(cause))
			text = after
		}
	}
	return []string{out.String() + Visible(text)}
}

// causesOf returns the errors that err wraps.
func causesOf(err error) []error {
	switch e := any(err).(type) {
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return []error{cause}
		}
	}
	return nil
}

// OneLine joins the lines of a message and escapes control characters.
func OneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return Visible(s)
}
