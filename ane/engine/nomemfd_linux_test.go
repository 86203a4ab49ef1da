//go:build !macrules

package engine_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/sysfilter"
)

// withoutMemfdEnv has the test process look at the engines as a kernel without memfd_create has them.
const withoutMemfdEnv = "ANEKIT_ENGINE_TEST_WITHOUT_MEMFD"

// TestBrokerNeedsMemfd: where memfd_create is refused, the broker is not available, and Probe and Open name that
// reason.
func TestBrokerNeedsMemfd(t *testing.T) {
	leaktest.SkipEmulated(t)
	if os.Getenv(withoutMemfdEnv) == "" {
		cmd := exec.Command("/proc/self/exe", "-test.count=1", "-test.v", "-test.run", "^TestBrokerNeedsMemfd$")
		cmd.Env = append(os.Environ(), withoutMemfdEnv+"=yes")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestBrokerNeedsMemfd")
		return
	}
	require.NoError(t, sysfilter.Deny(map[uint32]unix.Errno{unix.SYS_MEMFD_CREATE: unix.ENOSYS}))
	all := engine.Probe()
	i := slices.IndexFunc(all, func(s engine.Status) bool { return s.Name == engine.Broker })
	require.False(t, all[i].Available)
	require.Contains(t, all[i].Reason, "refuses memfd_create")
	for _, options := range [][]engine.Option{nil, {engine.BrokerPath("/nowhere/broker.sock")}} {
		_, err := engine.Open(t.Context(), engine.Broker, options...)
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorIs(t, err, unix.ENOSYS)
		require.ErrorContains(t, err, all[i].Reason)
		fault, ok := errors.AsType[*ane.Error](err)
		require.True(t, ok)
		require.Contains(t, fault.Hint, "permit that call in the filter")
	}
}
