//go:build !macrules

package hostile

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
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

// SIGHUP has the broker read its policy again, and ends nothing.
func TestHangUp(t *testing.T) {
	c := quiet(t)
	c.sane("before")
	for _, bad := range badPolicies {
		read, refused := c.hangUp(bad)
		require.False(t, read)
		require.True(t, refused)
		c.sane("the policy from before is in force")
	}
	read, refused := c.hangUp(policy{text: `{"grants": []}`, mode: 0o600})
	require.True(t, read)
	require.False(t, refused)
	require.ErrorIs(t, c.add(t.Context()), ane.ErrDenied)
	read, refused = c.hangUp(goodPolicy)
	require.True(t, read)
	require.False(t, refused)
	c.sane("afterwards")
	require.True(t, c.broker.lives())
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

// An entry that was rewritten together with its checksum is not the program of its key.
func TestForgedCacheEntry(t *testing.T) {
	quiet(t).rewriteEntry("subtracts", forge)
}
