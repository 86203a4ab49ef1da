//go:build !((darwin || (macrules && linux && cgo)) && (amd64 || arm64))

package libsystem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/libsystem"
)

func TestUnsupported(t *testing.T) {
	_, err := libsystem.Footprint()
	require.ErrorIs(t, err, libsystem.ErrUnsupported)
	_, err = libsystem.Mincore(0, 1)
	require.ErrorIs(t, err, libsystem.ErrUnsupported)
	require.ErrorIs(t, libsystem.Remap(0, 0, 1), libsystem.ErrUnsupported)
}
