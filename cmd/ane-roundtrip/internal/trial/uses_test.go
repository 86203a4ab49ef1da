package trial

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Only a surface in use while the engine has it, and not afterwards, shows that the engine works on it.
func TestUses(t *testing.T) {
	for name, c := range map[string]struct {
		used   []bool
		status string
	}{
		"bound":      {[]bool{true, true, false}, Pass},
		"evaluating": {[]bool{false, true, false}, Pass},
		"never":      {[]bool{false, false, false}, Skip},
		"always":     {[]bool{true, true, true}, Skip},
		"at the end": {[]bool{false, false, true}, Skip},
	} {
		var stages []use
		for _, in := range c.used {
			stages = append(stages, use{used: in})
		}
		require.Equal(t, c.status, used(stages...).Status, name)
	}
	b, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var u use
	u.look(b)
	require.Equal(t, Skip, used(u).Status)
	require.Contains(t, used(u).Detail, "no use counts")
}
