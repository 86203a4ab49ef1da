package weights

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem/safetensors"
)

// What the system says of OUT has the hint of all outputs, whichever call met it; what it says of IN has none of them.
func TestUnpacked(t *testing.T) {
	of := func(op, file string, system syscall.Errno) error {
		return unpacked("out", &safetensors.Error{Base: errtext.Base{Op: op, Err: system}, File: file, Offset: -1})
	}
	for _, op := range []string{"write", "repack"} {
		err := of(op, "out", syscall.ENOSPC)
		require.EqualError(t, err, "out: no space left on device; free space there, or name another file")
		require.Equal(t, cli.CodeFail, cli.ExitCode(t.Context(), err))
	}
	err := of("create", "out", syscall.EACCES)
	require.EqualError(t, err, "OUT: out: permission denied; name a file in a folder that exists and can be written")
	require.Equal(t, cli.CodeUsage, cli.ExitCode(t.Context(), err))
	require.Empty(t, cli.ErrorHint(of("repack", "in", syscall.EIO)))
}
