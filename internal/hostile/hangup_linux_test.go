//go:build !macrules

package hostile

import (
	"os"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	client "github.com/anekit/anekit/internal/engine/broker"
)

// policy is a file for the broker; none with mode 0.
type policy struct {
	text string
	mode os.FileMode
}

// goodPolicy is what a broker without a policy grants.
var goodPolicy = policy{`{"grants": [{"entitlements": ["com.apple.aned.private.allow",
	"com.apple.aned.private.processModelShare.allow"]}]}`, 0o600}

// badPolicies are refused, and change nothing.
var badPolicies = []policy{
	{"", 0o600},
	{"{\"grants\": [", 0o600},
	{"{\"grants\": null}", 0o600},
	{goodPolicy.text, 0o666},
	{},
}

// put replaces the broker's policy in one step.
func (c *campaign) put(p policy) {
	c.Helper()
	if p.mode == 0 {
		require.NoError(c, os.RemoveAll(c.broker.policy))
		return
	}
	next := c.broker.policy + ".next"
	require.NoError(c, os.WriteFile(next, []byte(p.text), 0o600))
	require.NoError(c, os.Chmod(next, p.mode))
	require.NoError(c, os.Rename(next, c.broker.policy))
}

// hangUp has the broker read a policy, and tells what it made of it.
func (c *campaign) hangUp(p policy) (read, refused bool) {
	c.Helper()
	before, after := c.reloads(), [2]uint64{}
	c.put(p)
	c.broker.signal(unix.SIGHUP)
	await.Until(c, "the broker has read its policy", func() bool {
		after = c.reloads()
		return after != before
	})
	return after[0] > before[0], after[1] > before[1]
}

// reloads counts the policies that were read, and those that were refused.
func (c *campaign) reloads() [2]uint64 {
	c.Helper()
	var named map[string]uint64
	await.Until(c, "the broker answers", func() bool { // a crowd may close the connection of one that only asks
		var err error
		named, err = client.Statistics(c.Context(), c.broker.path)
		return err == nil
	})
	return [2]uint64{named["policies read"], named["policies refused"]}
}

// hangUps has the broker read policies during an attack, faster than it can, and the good one in the end.
func (c *campaign) hangUps() {
	c.Helper()
	c.rounds++
	c.ran["SIGHUP"]++
	e := c.attack(c.choose())
	if c.dice.IntN(2) == 0 {
		e.wait()
	} else {
		e.fate = killed
	}
	for range 1 + c.dice.IntN(20) {
		p := goodPolicy
		switch c.dice.IntN(3) {
		case 0:
			p = badPolicies[c.dice.IntN(len(badPolicies))]
		case 1:
			p = policy{`{"grants": []}`, 0o600}
		}
		c.put(p)
		c.broker.signal(unix.SIGHUP)
	}
	for n := 0; n < 2; { // the first may be a policy from before
		if read, _ := c.hangUp(goodPolicy); read {
			n++
		}
	}
	c.sane("after SIGHUP, beside " + e.name)
	e.finish()
	c.sane("after SIGHUP and " + e.name)
}
