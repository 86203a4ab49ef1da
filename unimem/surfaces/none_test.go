//go:build !darwin && !(linux && cgo)

package surfaces_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/surfaces"
)

func TestNoLoader(t *testing.T) {
	l, err := surfaces.Load("/some/library", "/some/library")
	require.Nil(t, l)
	require.ErrorIs(t, err, surfaces.ErrNoLoader)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.ErrorContains(t, err, "CGO_ENABLED=1")
}
