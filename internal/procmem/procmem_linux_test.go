package procmem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func TestAPageMappedTwiceCountsOnce(t *testing.T) {
	const size = 64 << 20
	before, err := procmem.Proportional()
	if err != nil {
		t.Skipf("the kernel shows no sums of its page tables here (%v); run it on Linux 4.14 or later", err)
	}
	b, err := unimem.Open(size, unimem.Warm())
	require.NoError(t, err)
	m, err := unimem.Map(b)
	require.NoError(t, err)
	for i := 0; i < size; i += 4096 {
		m.Bytes()[i]++
	}
	after, err := procmem.Proportional()
	require.NoError(t, err)
	require.InDelta(t, size, after-before, size/4)
	require.NoError(t, m.Close())
	require.NoError(t, b.Close())
}
