package trial

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Only a surface in use while the engine has it, and not afterwards, shows that the engine works on it.
func TestUses(t *testing.T) {
	for name, c := range map[string]struct {
		used   [3]bool
		status string
	}{
		"bound":      {[3]bool{true, true, false}, Pass},
		"evaluating": {[3]bool{false, true, false}, Pass},
		"never":      {[3]bool{false, false, false}, Skip},
		"always":     {[3]bool{true, true, true}, Skip},
		"at the end": {[3]bool{false, false, true}, Skip},
	} {
		var stages [3]use
		for i, in := range c.used {
			stages[i].used = in
		}
		require.Equal(t, c.status, used(stages).Status, name)
	}
	b, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var stages [3]use
	stages[0].look(b)
	require.Equal(t, Skip, used(stages).Status)
	require.Contains(t, used(stages).Detail, "no use counts")
}
