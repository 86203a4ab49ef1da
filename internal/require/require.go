// Package require ends a test whose assertion does not hold, with the values and a difference of
// them. The assertions have the names, arguments and meaning of those in testify, which would link
// net/http into each of some ninety test binaries: RATIONALE.md, Libraries, has the figures.
//
// The arguments after the values are an optional message: a format and what it formats.
package require

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fail ends the test with a fact, such as "got an error", and the caller's message.
func fail(tb testing.TB, message []any, fact string, args ...any) {
	tb.Helper()
	tb.Fatal(fmt.Sprintf(fact, args...) + note(message))
}

// note returns a message as a line of its own.
func note(message []any) string {
	if len(message) == 0 {
		return ""
	}
	format, ok := message[0].(string)
	switch {
	case ok && len(message) > 1:
		return "\n" + fmt.Sprintf(format, message[1:]...)
	case ok:
		return "\n" + format
	}
	return "\n" + strings.TrimSuffix(fmt.Sprintln(message...), "\n")
}

// True requires a condition.
func True(tb testing.TB, holds bool, message ...any) {
	if !holds {
		tb.Helper()
		fail(tb, message, "got false, want true")
	}
}

// False requires that a condition does not hold.
func False(tb testing.TB, holds bool, message ...any) {
	if holds {
		tb.Helper()
		fail(tb, message, "got true, want false")
	}
}

// NoError requires a nil error.
func NoError(tb testing.TB, err error, message ...any) {
	if err != nil {
		tb.Helper()
		fail(tb, message, "got an error: %v", err)
	}
}

// Error requires an error.
func Error(tb testing.TB, err error, message ...any) {
	if err == nil {
		tb.Helper()
		fail(tb, message, "got no error")
	}
}

// ErrorIs requires an error whose chain has target.
func ErrorIs(tb testing.TB, err, target error, message ...any) {
	if !errors.Is(err, target) {
		tb.Helper()
		fail(tb, message, "got error %v\nwant in its chain: %v", err, target)
	}
}

// NotErrorIs requires an error whose chain does not have target, or nil.
func NotErrorIs(tb testing.TB, err, target error, message ...any) {
	if errors.Is(err, target) {
		tb.Helper()
		fail(tb, message, "got error %v\nits chain has: %v", err, target)
	}
}

// ErrorAs requires an error whose chain has one of the type target points to, and stores it there.
func ErrorAs(tb testing.TB, err error, target any, message ...any) {
	if !errors.As(err, target) {
		tb.Helper()
		fail(tb, message, "got error %v\nwant in its chain: %v", err, reflect.TypeOf(target).Elem())
	}
}

// ErrorContains requires an error whose text contains part.
func ErrorContains(tb testing.TB, err error, part string, message ...any) {
	if err == nil || !strings.Contains(err.Error(), part) {
		tb.Helper()
		fail(tb, message, "got error %v\nwant in its text: %s", err, part)
	}
}

// EqualError requires an error with this text.
func EqualError(tb testing.TB, err error, text string, message ...any) {
	if err == nil || err.Error() != text {
		tb.Helper()
		fail(tb, message, "got error %v\nwant the text:  %s", err, text)
	}
}

// Panics requires that f panics.
func Panics(tb testing.TB, f func(), message ...any) {
	if _, panics := panicOf(f); !panics {
		tb.Helper()
		fail(tb, message, "got no panic")
	}
}

// PanicsWithValue requires that f panics with want.
func PanicsWithValue(tb testing.TB, want any, f func(), message ...any) {
	if got, panics := panicOf(f); !panics || !equal(want, got) {
		tb.Helper()
		fail(tb, message, "got panic %t with %#v, want %#v", panics, got, want)
	}
}

// panicOf returns the value that f panics with.
func panicOf(f func()) (value any, panics bool) {
	panics = true
	defer func() { value = recover() }()
	f()
	return nil, false
}

// Regexp requires a text that matches the regular expression.
func Regexp(tb testing.TB, expression, text string, message ...any) {
	if !regexp.MustCompile(expression).MatchString(text) {
		tb.Helper()
		fail(tb, message, "got %q\nwant a match of %s", text, expression)
	}
}

// FileExists requires a file that is no folder.
func FileExists(tb testing.TB, path string, message ...any) {
	if info, err := os.Lstat(path); err != nil || info.IsDir() {
		tb.Helper()
		fail(tb, message, "no file %s: %v", path, err)
	}
}

// NoFileExists requires that path names no file.
func NoFileExists(tb testing.TB, path string, message ...any) {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		tb.Helper()
		fail(tb, message, "file %s exists", path)
	}
}

// shown is the most that show returns of one value, in bytes.
const shown = 4096

// show formats a value as Go source, a long one in part.
func show(v any) string {
	text := fmt.Sprintf("%#v", v)
	if len(text) > shown {
		return text[:shown] + "..."
	}
	return text
}

// brief is the length of values whose difference a reader sees at once, in bytes.
const brief = 60

// diff returns the difference of two values, line by line, unless they are brief.
func diff(want, got any) string {
	if len(show(want)) <= brief && len(show(got)) <= brief {
		return ""
	}
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	return "\ndifference (-want +got):\n" + cmp.Diff(want, got, all)
}
