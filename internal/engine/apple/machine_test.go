package apple

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/host"
)

func TestMachine(t *testing.T) {
	require.Equal(t, host.Apple, Machine() == nil)
	require.EqualError(t, otherMachine("linux/arm64", false), "needs macOS on Apple silicon, this is linux/arm64")
	require.EqualError(t, otherMachine("darwin/amd64", true), "needs macOS on Apple silicon, this is darwin/amd64 under "+
		"Rosetta; build the program with GOARCH=arm64")
}
