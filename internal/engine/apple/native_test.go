package apple_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/enginetest"
	"github.com/anekit/anekit/internal/effort"
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
	options := []enginetest.Option{enginetest.Named(apple.Name),
		enginetest.Without("heap memory is no surface", "parallel-heap")}
	if !effort.Full() {
		options = append(options, enginetest.Without("needs a second; "+effort.HowToRaise, "deadline"))
	}
	enginetest.Run(t, func() ane.Engine {
		e, err := apple.Open(t.Context(), apple.Apple())
		require.NoError(t, err)
		return e
	}, options...)
}
