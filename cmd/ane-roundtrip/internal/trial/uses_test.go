package trial

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Only a surface in use while the engine has it, and not afterwards, shows that the engine works on it.
func TestUses(t *testing.T) {
	stages := []string{"bound", "evaluating", "closed"}
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
		u := useRecord{stages: stages, counts: []int{0, 1, 0}, used: c.used}
		require.Equal(t, c.status, u.check().Status, name)
	}
	b, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var u useRecord
	u.look("bound", b)
	require.Equal(t, Skip, u.check().Status)
	require.Contains(t, u.check().Detail, "no use counts")
}
