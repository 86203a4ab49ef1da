// Package budget limits the work of tests.
package budget

import (
	"os"
	"testing"
)

// Variable is the environment variable that, with any value, makes tests do all their work.
// make test sets it.
const Variable = "ANEKIT_FULL"

// HowToRaise is the end of the reason of a test that is skipped for lack of budget.
const HowToRaise = "run with " + Variable + "=1"

// Full reports whether tests may take minutes and gigabytes.
func Full() bool { return os.Getenv(Variable) != "" && !testing.Short() }

// Rounds is the number of repetitions of a test: full if Variable is set, otherwise usual, and
// a quarter of that with -short.
func Rounds(full, usual int) int {
	switch {
	case Full():
		return full
	case testing.Short():
		return max(1, usual/4)
	}
	return usual
}

// Skip skips a test that is too large for a plain run; needs is what the test needs.
func Skip(tb testing.TB, needs string) {
	tb.Helper()
	if !Full() {
		tb.Skip("needs " + needs + "; " + HowToRaise)
	}
}
