//go:build !macrules

package hostile

import (
	"os"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// faults break what is around the broker, during an attack. Each is mended before the attackers end.
var faults = []struct {
	name  string
	begin func(*campaign)
	end   func(*campaign)
}{
	{"stopped", func(c *campaign) { c.broker.signal(unix.SIGSTOP) },
		func(c *campaign) { c.broker.signal(unix.SIGCONT) }},
	{"without descriptors", func(c *campaign) {
		now, ok := c.broker.count()
		require.True(c, ok)
		c.limit(uint64(now.Descriptors) + uint64(c.dice.IntN(20)))
	}, func(c *campaign) { c.limit(0) }},
	{"without its cache", func(c *campaign) {
		require.NoError(c, os.Rename(c.broker.cache, c.broker.cache+".away"))
	}, func(c *campaign) {
		require.NoError(c, os.RemoveAll(c.broker.cache))
		require.NoError(c, os.Rename(c.broker.cache+".away", c.broker.cache))
	}},
	{"with a file for a cache", func(c *campaign) {
		require.NoError(c, os.Rename(c.broker.cache, c.broker.cache+".away"))
		require.NoError(c, os.WriteFile(c.broker.cache, nil, 0o600))
	}, func(c *campaign) {
		require.NoError(c, os.RemoveAll(c.broker.cache))
		require.NoError(c, os.Rename(c.broker.cache+".away", c.broker.cache))
	}},
	{"killed", func(c *campaign) { c.broker.signal(unix.SIGKILL) }, func(c *campaign) {
		require.Error(c, c.broker.wait())
	}},
}

// limit sets the broker's soft limit of descriptors; 0 raises it to the hard one.
func (c *campaign) limit(soft uint64) {
	c.Helper()
	pid := c.broker.cmd.Process.Pid
	var now unix.Rlimit
	require.NoError(c, unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &now))
	now.Cur = soft
	if soft == 0 {
		now.Cur = now.Max
	}
	require.NoError(c, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &now, nil))
}

// fault breaks something while attackers attack, and mends it.
func (c *campaign) fault(which int) {
	c.Helper()
	c.settle()
	f := faults[which]
	c.rounds++
	c.ran[f.name]++
	e := c.attack(c.choose())
	e.fate = killed
	if c.dice.IntN(2) == 0 {
		e.wait()
	}
	c.Logf("round %d, %s: the broker is %s", c.rounds, e.name, f.name)
	f.begin(c)
	other := c.attack(c.choose())
	other.fate = killed
	if c.dice.IntN(2) == 0 {
		other.wait()
	}
	f.end(c)
	e.finish()
	other.finish()
	if !c.broker.lives() { // a new one is counted while no attacker has a connection to it
		c.start(c.dice.IntN(stderrs))
	}
	c.sane("after the broker was " + f.name)
}
