//go:build darwin || macrules

package procmem_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/procmem"
)

// Of this process the footprint is known; nothing else is.
func TestOnlyThisProcess(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	n, err := procmem.Proportional()
	require.NoError(t, err)
	require.Positive(t, n)
	memory := make([]byte, 64<<20)
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	more, err := procmem.Proportional(os.Getpid())
	require.NoError(t, err)
	require.InDelta(t, len(memory), more-n, 16<<20)
	require.EqualValues(t, 1, memory[0])

	_, err = procmem.Proportional(os.Getppid())
	require.ErrorIs(t, err, procmem.ErrUnknown)
	require.ErrorIs(t, procmem.Mappings(0, nil), procmem.ErrUnknown)
	_, shown := procmem.Frames(0, 0, 1)
	require.False(t, shown)
	p := procmem.MemoryPressure()
	require.Contains(t, []int{1, 2, 4}, p.Level)
	require.Negative(t, p.Stalled)
}
