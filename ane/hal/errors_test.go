package hal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
)

// TestNoCommandError: a nil CommandError has a text and unwraps to nothing.
func TestNoCommandError(t *testing.T) {
	var none *hal.CommandError
	require.NotEmpty(t, none.Error())
	require.NoError(t, none.Unwrap())
}
