package kv_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

// childFile is the environment variable that makes this binary restore a snapshot and print what an engine computes
// of it.
const childFile = "ANEKIT_KV_CHILD"

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	broker.ServeChild()
	if path := os.Getenv(childFile); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}
