//go:build !(darwin && cgo)

package metal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenWithoutMetal(t *testing.T) {
	d, err := Open()
	require.Nil(t, d)
	require.ErrorIs(t, err, ErrUnavailable)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "build on macOS with CGO_ENABLED=1")
	_, err = d.NewBuffer(surface(t, 1))
	require.ErrorIs(t, err, ErrClosed)
}
