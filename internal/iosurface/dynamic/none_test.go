//go:build !darwin && !(linux && cgo)

package dynamic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/iosurface/dynamic"
)

func TestNoLoader(t *testing.T) {
	table, err := dynamic.Load("/some/library", "/some/library")
	require.Nil(t, table)
	require.ErrorIs(t, err, dynamic.ErrNoLoader)
	require.ErrorContains(t, err, "CGO_ENABLED=1")
}
