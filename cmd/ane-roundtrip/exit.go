package main

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
	codePass        = 0
	codeFail        = 1
	codeUsage       = 2 // wrong usage or bad input
	codeUnavailable = 3
	codeCut         = 4   // a broker ended with calls in flight
	codeInterrupted = 130 // 128 + SIGINT, as in shells
)

// errFailed ends a command whose report names the failed checks.
var errFailed = errors.New("a check failed")

// badInput marks an error that the user has to fix: wrong usage, a wrong file, a wrong program, a full disk.
type badInput struct {
	err  error
	hint string // the end of the message, what the user can do; may be empty
	// system is true if the input is right and the system failed: the status is that of a failed command.
	system bool
}

func (b badInput) Error() string { return b.err.Error() }
func (b badInput) Unwrap() error { return b.err }

// bad marks err as bad input; nil stays nil.
func bad(err error) error {
	if err == nil {
		return nil
	}
	return badInput{err: err}
}

// badf returns bad input with a formatted message: the fault and, after the first semicolon, the hint.
func badf(format string, args ...any) error { return hinted(format, args...) }

// failf returns an error of the system with a message as badf makes it.
func failf(format string, args ...any) error {
	b := hinted(format, args...)
	b.system = true
	return b
}

func hinted(format string, args ...any) badInput {
	b := badInput{err: fmt.Errorf(format, args...)}
	if what, hint, ok := strings.Cut(format, "; "); ok {
		used := strings.Count(strings.ReplaceAll(what, "%%", ""), "%")
		b.hint = fmt.Errorf(hint, args[used:]...).Error()
	}
	return b
}

// ownEnd is an error of a command that a signal ends in an orderly way: the signal does not explain it.
type ownEnd struct{ cause error }

func (e ownEnd) Error() string { return e.cause.Error() }
func (e ownEnd) Unwrap() error { return e.cause }

// exitCode returns the exit status for an error.
func exitCode(ctx context.Context, err error) int {
	var input badInput
	var own ownEnd
	switch {
	case err == nil:
		return codePass
	case errors.Is(err, server.ErrCut):
		return codeCut
	case errors.As(err, &own):
		return codeFail
	case ctx.Err() != nil:
		return codeInterrupted
	case errors.Is(err, ane.ErrUnavailable):
		return codeUnavailable
	case errors.As(err, &input) && !input.system:
		return codeUsage
	}
	return codeFail
}

// faultsOf returns the errors that err lists for a program; nil for another kind of error.
func faultsOf(err error) mil.ErrorList {
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

// explain prints an error on one line. For a program it prints one line for each fault:
// FILE:LINE:COL: fault; hint, and below it the line of the program with a caret under the place.
func explain(ctx context.Context, w io.Writer, err error, programs map[string][]byte) {
	var own ownEnd
	line := func(text string) { fmt.Fprintln(w, page.Fold(text, page.Width(w), 2)) }
	switch faults := faultsOf(err); {
	case err == nil || errors.Is(err, errFailed):
	case ctx.Err() != nil && !errors.As(err, &own):
		line("ane-roundtrip: interrupted")
	case faults != nil:
		for _, e := range faults {
			line(oneLine(faultText(e)))
			if text := mil.Excerpt(programs[e.File], e.Pos, page.Width(w)); text != "" {
				fmt.Fprintln(w, text)
			}
		}
	default:
		line("ane-roundtrip: " + textOf(err))
	}
}

// faultText is the text of a fault, with line breaks in the name of its file escaped.
func faultText(e *mil.Error) string {
	shown := *e
	shown.File = visible(e.File)
	return shown.Error()
}

// textOf is the text of an error on one line. Joined errors follow each other after semicolons, those of one text once;
// other line breaks, such as those in names of files, are escaped as all control characters are.
func textOf(err error) string { return strings.Join(linesOf(err), "; ") }

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
			out.WriteString(visible(before) + textOf(cause))
			text = after
		}
	}
	return []string{out.String() + visible(text)}
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

// oneLine joins the lines of a message and escapes control characters.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return visible(s)
}

// lintFailed is the error of programs with findings that are errors. They are printed already.
type lintFailed struct{ count int }

func (l lintFailed) Error() string { return "lint found " + counted(l.count, "error", "errors") }

func (l lintFailed) Is(kind error) bool { return kind == errFailed }
