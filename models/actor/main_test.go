package actor

import (
	"fmt"
	"os"
	"testing"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

// childPart names the part that a child process plays in a test.
const childPart = "ANEKIT_ACTOR_CHILD"

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	broker.ServeChild()
	if part := os.Getenv(childPart); part != "" {
		if err := child(part, os.Args[len(os.Args)-2], os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}
