// Package budget tells tests how much to do.
package budget

import (
	"os"
	"testing"
)

// Variable names the environment variable that has tests do all that they can: any value
// does. make test sets it.
const Variable = "ANEKIT_FULL"

// HowToRaise ends the reason of a test that is skipped for want of budget.
const HowToRaise = "run with " + Variable + "=1"

// Full reports whether tests may take minutes and gigabytes.
func Full() bool { return os.Getenv(Variable) != "" && !testing.Short() }

// Rounds is how often a test repeats what it does: full under the variable, else usual, and
// a quarter of that under -short.
func Rounds(full, usual int) int {
	switch {
	case Full():
		return full
	case testing.Short():
		return max(1, usual/4)
	}
	return usual
}

// Skip skips a test that is too large for a plain run: it needs what is named.
func Skip(tb testing.TB, needs string) {
	tb.Helper()
	if !Full() {
		tb.Skip("needs " + needs + "; " + HowToRaise)
	}
}
