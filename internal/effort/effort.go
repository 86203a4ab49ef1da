// Package effort says how much of their work tests do:
//
//	go test -short ./...          quick: what goroutines and processes may break; for the race detector
//	go test ./...                 usual: every assertion, on a sample of long sweeps
//	ANEKIT_FULL=1 go test ./...   full: every case, in minutes and gigabytes
//
// -short wins over ANEKIT_FULL. Both are set from outside; no test sets them for another one.
package effort

import (
	"os"
	"testing"
)

// Variable is the environment variable that, with any value, asks for the full extent.
const Variable = "ANEKIT_FULL"

// HowToRaise is the end of the reason of a test that needs the full extent.
const HowToRaise = "run with " + Variable + "=1"

// Full reports whether tests do all of their work.
func Full() bool { return os.Getenv(Variable) != "" && !testing.Short() }

// NeedsFull skips a test unless Full. Needs is what the test needs, such as "a gigabyte".
func NeedsFull(tb testing.TB, needs string) {
	tb.Helper()
	if !Full() {
		tb.Skip("needs " + needs + "; " + HowToRaise)
	}
}

// SkipShort skips, with -short, a test that only computes: the race detector finds nothing in it.
func SkipShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("only computes; run without -short")
	}
}

// Rounds is the number of repetitions of a test: full if Full, otherwise usual.
func Rounds(full, usual int) int {
	if Full() {
		return full
	}
	return usual
}

// Cases is the number of random cases of a test that only computes: n if Full, otherwise a twentieth.
func Cases(n int) int { return Rounds(n, max(2, n/20)) }

// Sample reports whether a test runs its case i, counted from 0: every case if Full, otherwise one of n.
func Sample(i, n int) bool { return Full() || i%n == 0 }
