package apple_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
)

// TestApplePassesSuite runs the conformance suite on the Neural Engine, where there is one.
func TestApplePassesSuite(t *testing.T) {
	if err := apple.Machine(); err != nil {
		t.Skip("no Apple engine: " + err.Error())
	}
	first, err := apple.Open(t.Context(), apple.Apple())
	if errors.Is(err, ane.ErrUnavailable) {
		t.Skip("no Apple engine: " + err.Error())
	}
	require.NoError(t, err)
	require.NoError(t, first.Close())
	suite(t, apple.Apple())
}
