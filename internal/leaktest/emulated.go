package leaktest

import (
	"fmt"
	"os"
	"testing"

	"github.com/anekit/anekit/internal/budget"
)

const emulated = "needs child processes and deadlines, which do not work under an emulator; run it on the processor " +
	"itself"

// SkipEmulated skips, under an emulator, a test that starts its own binary.
func SkipEmulated(tb testing.TB) {
	tb.Helper()
	if budget.Emulated() {
		tb.Skip(emulated)
	}
}

// NeedsProcesses ends, under an emulator, a run of tests that start their own binary or have
// deadlines. It is for TestMain.
func NeedsProcesses() {
	if budget.Emulated() {
		fmt.Println("skipped:", emulated)
		os.Exit(0)
	}
}

// NeedsFaultAddress skips, under an emulator, a test that reads beyond a file that became shorter.
func NeedsFaultAddress(tb testing.TB) {
	tb.Helper()
	if budget.Emulated() {
		tb.Skip("qemu does not tell the address of a bus error; run it without an emulator")
	}
}
