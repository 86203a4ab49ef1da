package blocktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Open is how a backend opens a Block.
type Open func(size int, opts ...unimem.Option) (*unimem.Block, error)

// Run checks a backend. It must not run beside tests that hold Blocks of their own, for it
// counts what is open in the process.
func Run(t *testing.T, open func(size int, opts ...unimem.Option) (*unimem.Block, error)) {
	for _, part := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"sizes", sizes},
		{"refused sizes", refusedSizes},
		{"bytes", contents},
		{"identity", identity},
		{"retain", retain},
		{"after close", afterClose},
		{"options", options},
		{"mapping", mapping},
		{"many", many},
		{"racing holders", racingHolders},
	} {
		t.Run(part.name, func(t *testing.T) {
			before := unimem.Live()
			part.test(t, open)
			after := unimem.Live()
			require.Equal(t, before.Blocks, after.Blocks, "Blocks are left open")
			require.Equal(t, before.Bytes, after.Bytes, "bytes are left open")
			require.Equal(t, before.Mappings, after.Mappings, "Mappings are left open")
		})
	}
}

// mustOpen opens a Block. The caller closes it.
func mustOpen(t *testing.T, open Open, size int, opts ...unimem.Option) *unimem.Block {
	t.Helper()
	b, err := open(size, opts...)
	require.NoError(t, err)
	return b
}
