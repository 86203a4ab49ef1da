package leaktest

import (
	"fmt"
	"os"
	"testing"
)

// emulator names the variable with the program that runs test binaries of another
// processor.
const emulator = "ANEKIT_EXEC"

const emulated = "an emulator can neither start the processes that this needs nor keep its deadlines; run it on the processor itself"

// SkipEmulated skips a test that starts its own binary again.
func SkipEmulated(tb testing.TB) {
	tb.Helper()
	if os.Getenv(emulator) != "" {
		tb.Skip(emulated)
	}
}

// NeedsProcesses ends a run of tests that start their own binary or have deadlines
// under an emulator. It is for TestMain.
func NeedsProcesses() {
	if os.Getenv(emulator) != "" {
		fmt.Println("skipped:", emulated)
		os.Exit(0)
	}
}
