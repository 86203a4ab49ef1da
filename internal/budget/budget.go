// Package budget tells tests how much work to do: all of it, the usual part, less under the race detector or an
// emulator, and least in a plain go test ./...
package budget

import (
	"os"
	"testing"
)

// Variable is the environment variable that, with any value, makes tests do all their work.
// The step plain of make test sets it.
const Variable = "ANEKIT_FULL"

// HowToRaise is the end of the reason of a test that is skipped for lack of budget.
const HowToRaise = "run with " + Variable + "=1"

// Full reports whether tests may take minutes and gigabytes.
func Full() bool { return os.Getenv(Variable) != "" && !testing.Short() }

// Make is the environment variable that the Makefile sets for all of its targets.
const Make = "ANEKIT_MAKE"

// Light reports whether a plain go test ./... runs, which is to take a minute: neither make nor Variable asks for more.
func Light() bool { return os.Getenv(Variable) == "" && os.Getenv(Make) == "" }

// Heavy skips a test where Light; every step of make test that has the test runs it. Needs is what the test needs.
func Heavy(tb testing.TB, needs string) {
	tb.Helper()
	if Light() {
		tb.Skip("needs " + needs + "; " + HowToRaise)
	}
}

// Rounds is the number of repetitions of a test: full if Variable is set, otherwise usual, and
// a quarter of that where Light and with -short.
func Rounds(full, usual int) int {
	switch {
	case Full():
		return full
	case Light() || testing.Short():
		return max(1, usual/4)
	}
	return usual
}

// Measured is a size of a benchmark: full, or tried where make runs each benchmark once.
func Measured(full, tried int) int {
	if os.Getenv(Make) != "" {
		return tried
	}
	return full
}

// Skip skips a test that is too large for a plain run; needs is what the test needs.
func Skip(tb testing.TB, needs string) {
	tb.Helper()
	if !Full() {
		tb.Skip("needs " + needs + "; " + HowToRaise)
	}
}

// Emulator is the environment variable with the program that runs test binaries of another processor.
const Emulator = "ANEKIT_EXEC"

// Emulated reports whether an emulator runs the tests.
func Emulated() bool { return os.Getenv(Emulator) != "" }

// Slow reports whether arithmetic takes ten times as long as the processor needs: under the race detector or
// an emulator. There, tests that only compute take a part of their cases, as they do unless Full; the step plain of
// make test runs them whole.
func Slow() bool { return Race || Emulated() }

// Whole reports whether tests that only compute take all of their cases: if Full and not Slow.
func Whole() bool { return Full() && !Slow() }

// Sample reports whether a test runs its case i, counted from 0: every case if Whole, otherwise one of n, and one of 3n
// where Light and where Slow: an emulator has to run each kernel of the processor, the race detector each goroutine.
func Sample(i, n int) bool {
	if Slow() || Light() {
		n *= 3
	}
	return Whole() || i%n == 0
}

// SkipSlow skips a test that only computes where Slow.
func SkipSlow(tb testing.TB) {
	tb.Helper()
	if Slow() {
		tb.Skip("computes only; make test runs it without the race detector and without an emulator")
	}
}

// SkipRace skips, under the race detector, a test whose goroutines other tests of its package run there.
func SkipRace(tb testing.TB) {
	tb.Helper()
	if Race {
		tb.Skip("runs no goroutines of its own; make test runs it without the race detector")
	}
}

// SkipEmulated skips, under an emulator, a test of code that is the same on every processor, whose kernels other tests
// of its package run there.
func SkipEmulated(tb testing.TB) {
	tb.Helper()
	if Emulated() {
		tb.Skip("has no kernels of its own; make test runs it without an emulator")
	}
}

// Cases is the number of random cases of a test that only computes: n if Whole, otherwise a quarter, an eighth where
// Slow and a twentieth where Light.
func Cases(n int) int {
	switch {
	case Whole():
		return n
	case Light():
		return max(2, n/20)
	case Slow():
		return max(2, n/8)
	}
	return max(2, n/4)
}
