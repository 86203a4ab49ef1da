package kernels

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/ops"
)

// TestEachOperatorHasAKernel: each operator has a kernel, or is named here as one that no step of its own computes; no kernel and
// no function stands under another name.
func TestEachOperatorHasAKernel(t *testing.T) {
	names := ops.Names()
	var without []string
	for _, name := range names {
		if Of(name) == nil {
			without = append(without, name)
		}
	}
	views := []string{"expand_dims", "flatten2d", "identity", "reshape", "reshape_like", "squeeze",
		"tensor_buffer_to_tensor", "tensor_to_tensor_buffer", "cond", "while_loop"}
	require.ElementsMatch(t, append(views, "const"), without)
	check := func(name string) { require.True(t, slices.Contains(names, name), name) }
	for name := range kernels {
		require.Nil(t, functions[name], name)
		require.Nil(t, intOps[name], name)
		check(name)
	}
	for name := range functions {
		check(name)
	}
	for name := range intOps {
		check(name)
	}
}
