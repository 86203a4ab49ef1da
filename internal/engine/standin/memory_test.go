package standin

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// fake is memory without a surface library: Blocks by number.
type fake struct {
	mu     sync.Mutex
	blocks map[uint32]*unimem.Block
	opened int
	shared int
	refuse func(call string) error // may be nil
}

func newFake(t testing.TB, count int) *fake {
	f := &fake{blocks: map[uint32]*unimem.Block{}}
	for id := range uint32(count) {
		b, err := unimem.Open(plane)
		require.NoError(t, err)
		f.blocks[id+1] = b
	}
	t.Cleanup(func() {
		require.Zero(t, f.opened, "surfaces left open")
		require.Zero(t, f.shared, "surfaces left shared")
		for _, b := range f.blocks {
			require.NoError(t, b.Close())
		}
	})
	return f
}

func (f *fake) bytes(id uint32) []byte { return f.blocks[id].Bytes()[:plane] }

// count changes a counter, unless the call is to fail.
func (f *fake) count(call string, counter *int, by int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		if err := f.refuse(call); err != nil {
			return err
		}
	}
	*counter += by
	return nil
}

func (f *fake) open(id uint32, size int) (*unimem.Block, error) {
	b := f.blocks[id]
	switch {
	case b == nil:
		return nil, unimem.ErrCreate
	case size > b.Size():
		return nil, fmt.Errorf("%w: %d bytes of %d", unimem.ErrSize, size, b.Size())
	}
	return b, f.count("open", &f.opened, 1)
}

func (f *fake) close(*unimem.Block) error   { return f.count("close", &f.opened, -1) }
func (f *fake) share(*unimem.Block) error   { return f.count("share", &f.shared, 1) }
func (f *fake) unshare(*unimem.Block) error { return f.count("unshare", &f.shared, -1) }
