//go:build !macrules

package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/enginetest"
)

// conform runs the suite for engines on what Open gives.
func conform(t *testing.T, o Options, more ...enginetest.Option) {
	enginetest.Run(t, func() ane.Engine {
		e, err := Open(t.Context(), o)
		require.NoError(t, err)
		return e
	}, append(more, enginetest.Named(Name), enginetest.Without("heap memory has no descriptor to share",
		"parallel-heap"))...)
}

func TestConformancePrivate(t *testing.T) {
	var more []enginetest.Option
	if !effort.Full() {
		more = append(more, enginetest.Without("needs a second; "+effort.HowToRaise, "deadline"))
	}
	conform(t, Options{}, more...)
}

// A broker that is no more than the frames' meaning serves as well.
func TestConformanceFake(t *testing.T) {
	conform(t, Options{Path: newFake(t).path},
		enginetest.Without("the fake's Blocks are of this process too", "leaks"),
		enginetest.Without("the fake makes no instances", "instances"))
}
