package leaktest

import (
	"fmt"
	"os"
	"testing"
)

// Emulator is the environment variable with the program that runs test binaries of another processor, as go test -exec.
const Emulator = "ANEKIT_EXEC"

// Emulated reports whether an emulator runs the tests.
func Emulated() bool { return os.Getenv(Emulator) != "" }

const emulated = "needs child processes and deadlines, which do not work under an emulator; run it on the processor " +
	"itself"

// SkipEmulated skips, under an emulator, a test that starts its own binary.
func SkipEmulated(tb testing.TB) {
	tb.Helper()
	if Emulated() {
		tb.Skip(emulated)
	}
}

// NeedsProcesses ends, under an emulator, a run of tests that start their own binary or have
// deadlines. It is for TestMain.
func NeedsProcesses() {
	if Emulated() {
		fmt.Println("skipped:", emulated)
		os.Exit(0)
	}
}

// NeedsFaultAddress skips, under an emulator, a test that reads beyond a file that became shorter.
func NeedsFaultAddress(tb testing.TB) {
	tb.Helper()
	if Emulated() {
		tb.Skip("qemu does not tell the address of a bus error; run it without an emulator")
	}
}
