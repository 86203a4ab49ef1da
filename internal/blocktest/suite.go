// Package blocktest is the test suite of the memory backends of unimem.
package blocktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Open opens a Block of a backend.
type Open func(size int, opts ...unimem.Option) (*unimem.Block, error)

// Run checks a backend. It counts what is open in the process, so it must not run in
// parallel with tests that open Blocks.
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
			require.Equal(t, before.Blocks, after.Blocks, "all Blocks are closed")
			require.Equal(t, before.Bytes, after.Bytes, "all bytes are freed")
			require.Equal(t, before.Mappings, after.Mappings, "all Mappings are closed")
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
