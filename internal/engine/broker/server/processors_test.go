package server

import (
	"runtime"
	"testing"

	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/stretchr/testify/require"
)

// The engine keeps the processors that the process had, and what answers clients gets more.
func TestProcessors(t *testing.T) {
	n := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(n)
	workers := Processors()
	require.Equal(t, 3, workers)
	require.Greater(t, runtime.GOMAXPROCS(0), workers)
	require.Equal(t, workers, Config{Workers: workers}.settled(admission.OwnerPolicy()).Workers)
	require.Equal(t, runtime.GOMAXPROCS(0), Config{}.settled(admission.OwnerPolicy()).Workers)
}
