// Package brokertest skips tests that open the engine broker where it is not available.
package brokertest

import (
	"testing"

	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

// Need skips a test that needs a broker, with the reason why there is none, or under an emulator.
func Need(tb testing.TB) {
	tb.Helper()
	if err := broker.Probe(); err != nil {
		tb.Skip("no broker: " + err.Error())
	}
	leaktest.SkipEmulated(tb) // a private broker is a process
}

// Here reports whether Need lets a test run, for tests that have other engines too.
func Here() bool { return broker.Probe() == nil && !leaktest.Emulated() }
