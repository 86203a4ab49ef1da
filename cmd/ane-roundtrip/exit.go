package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
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
type badInput struct{ err error }

func (b badInput) Error() string { return b.err.Error() }
func (b badInput) Unwrap() error { return b.err }

// bad marks err as bad input; nil stays nil.
func bad(err error) error {
	if err == nil {
		return nil
	}
	return badInput{err}
}

// badf is bad with a text.
func badf(format string, args ...any) error { return bad(fmt.Errorf(format, args...)) }

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

// explain prints an error, one line for each fault: FILE:LINE:COL: what is
// wrong; how to fix it, where a position is known.
func explain(ctx context.Context, w io.Writer, err error) {
	var list mil.ErrorList
	var one *mil.Error
	switch {
	case err == nil || errors.Is(err, errFailed):
	case ctx.Err() != nil:
		fmt.Fprintln(w, "ane-roundtrip: interrupted")
	case errors.Is(err, ane.ErrUnavailable): // also when a program that it tries itself is refused
		fmt.Fprintln(w, "ane-roundtrip: "+oneLine(err.Error()))
	case errors.As(err, &list):
		for _, e := range list {
			fmt.Fprintln(w, oneLine(e.Error()))
		}
	case errors.As(err, &one):
		fmt.Fprintln(w, oneLine(one.Error()))
	default:
		fmt.Fprintln(w, "ane-roundtrip: "+oneLine(err.Error()))
	}
}

// oneLine puts what several errors say on one line, control characters escaped.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return visible(s)
}
