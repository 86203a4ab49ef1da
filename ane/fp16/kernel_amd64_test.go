package fp16

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
)

// Each kernel runs exactly where the processor has its instructions.
func TestKernelsOfTheProcessor(t *testing.T) {
	half := cpu.X86.HasAVX && cpu.X86.HasF16C
	require.Equal(t, half, Accelerated() == "f16c")
	require.Equal(t, half && cpu.X86.HasAVX2, machine.brain)
}
