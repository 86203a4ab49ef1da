package apple_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/enginetest"
)

// suite runs the conformance suite.
func suite(t *testing.T, c apple.Config) {
	options := []enginetest.Option{enginetest.Named(c.Name),
		enginetest.Without("heap memory is no surface", "parallel-heap")}
	if !effort.Full() {
		options = append(options, enginetest.Without("needs a second; "+effort.HowToRaise, "deadline"))
	}
	enginetest.Run(t, func() ane.Engine {
		e, err := apple.Open(t.Context(), c)
		require.NoError(t, err)
		return e
	}, options...)
}

func TestStandInPassesSuite(t *testing.T) { suite(t, framework(t).Config()) }
