//go:build !macrules

package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// Without descriptors left, opening, compiling and reconnecting fail with errors that
// say so, nothing is left, and what is bound goes on.
func TestNoDescriptorsLeft(t *testing.T) {
	r := newRig(t, Options{}, negation())
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	restore := func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before)) }
	for spare := range 12 {
		free, err := unix.Dup(0) // the lowest number that is free
		require.NoError(t, err)
		require.NoError(t, unix.Close(free))
		open := len(names("/proc/self/fd"))
		low := before
		low.Cur = uint64(free + spare)
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
		e, err := Open(t.Context(), Options{})
		runs := r.run(t.Context())
		x, compiles := r.engine.Compile(t.Context(), negation())
		restore()
		if err == nil {
			require.NoError(t, e.Close())
		} else {
			require.ErrorIs(t, err, ane.ErrUnavailable)
		}
		require.NoError(t, runs)
		if compiles == nil {
			require.NoError(t, x.Close())
		} else {
			require.ErrorIs(t, compiles, ane.ErrEngine)
		}
		require.LessOrEqual(t, len(names("/proc/self/fd")), open)
	}
	r.negates(t, 1)
}
