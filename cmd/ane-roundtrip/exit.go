package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// Exit codes of the command.
const (
	codePass        = 0
	codeFail        = 1
	codeUsage       = 2 // wrong usage or bad input
	codeUnavailable = 3
	codeInterrupted = 130 // 128 + SIGINT, as shells say it
)

// errFailed ends a command whose report has told already what failed.
var errFailed = errors.New("a check failed")

// badInput marks an error as the caller's: wrong usage, files, programs.
type badInput struct {
	err  error
	hint string // the end of the text, which says what to do; may be empty
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

// badf is bad with a text: what is wrong, then, after the first semicolon, what to do.
func badf(format string, args ...any) error {
	b := badInput{err: fmt.Errorf(format, args...)}
	if what, todo, ok := strings.Cut(format, "; "); ok {
		used := strings.Count(strings.ReplaceAll(what, "%%", ""), "%")
		b.hint = fmt.Errorf(todo, args[used:]...).Error()
	}
	return b
}

// exitCode tells the caller's shell what happened.
func exitCode(ctx context.Context, err error) int {
	var input badInput
	switch {
	case err == nil:
		return codePass
	case ctx.Err() != nil:
		return codeInterrupted
	case errors.Is(err, ane.ErrUnavailable):
		return codeUnavailable
	case errors.As(err, &input):
		return codeUsage
	}
	return codeFail
}

// faultsOf lists the faults of a program in err; nil where err is about something else.
func faultsOf(err error) mil.ErrorList {
	var list mil.ErrorList
	var one *mil.Error
	switch {
	case errors.Is(err, ane.ErrUnavailable): // also when a program that the engine tries itself is refused
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return mil.ErrorList{one}
	}
	return nil
}

// explain prints an error, one line for each fault: FILE:LINE:COL: what is
// wrong; how to fix it, where a position is known.
func explain(ctx context.Context, w io.Writer, err error) {
	tell := func(text string) { fmt.Fprintln(w, page.Fold(oneLine(text), page.Width(w), 2)) }
	switch faults := faultsOf(err); {
	case err == nil || errors.Is(err, errFailed):
	case ctx.Err() != nil:
		tell("ane-roundtrip: interrupted")
	case faults != nil:
		for _, e := range faults {
			tell(e.Error())
		}
	default:
		tell("ane-roundtrip: " + err.Error())
	}
}

// oneLine puts what several errors say on one line, control characters escaped.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return visible(s)
}
