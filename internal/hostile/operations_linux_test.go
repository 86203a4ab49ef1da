//go:build !macrules

package hostile

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
)

// quiet is a campaign without attacks, for one broker.
func quiet(t *testing.T) *campaign {
	leaktest.SkipEmulated(t)
	c := &campaign{T: t, dir: t.TempDir(), dice: rand.New(rand.NewPCG(1, 1)), ran: map[string]int{}}
	c.broker = startBroker(t, c.dir, discarded)
	return c
}

// A removed socket file locks no client out: the broker makes it again, or ends.
func TestSocketFileRemoved(t *testing.T) {
	c := quiet(t)
	c.sane("before")
	require.NoError(t, os.Remove(c.broker.path))
	await.Until(t, "the broker notices", func() bool {
		_, err := os.Lstat(c.broker.path)
		return err == nil || !c.broker.lives()
	})
	if c.broker.lives() {
		c.sane("afterwards")
	}
}

// An entry of the cache that another process has rewritten yields its own program or none.
func TestRewrittenCache(t *testing.T) {
	c := quiet(t)
	for i := range rewrites {
		if !effort.Full() && i%4 != 0 {
			continue
		}
		c.rewriteCache(i)
	}
}

// An entry that was rewritten is not the program of its key.
func TestForgedCacheEntry(t *testing.T) {
	quiet(t).rewriteEntry("subtracts", forge)
}
