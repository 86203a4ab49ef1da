//go:build !macrules

package hostile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Numbers of 16 bits, as the addition computes them.
const three, four, seven = "\x00\x42", "\x00\x44", "\x00\x47"

// rewrites are what another process of the user does to an entry of the cache.
var rewrites = []struct {
	name string
	do   func(c *campaign, path string) error
}{
	{"a bit flipped", func(c *campaign, path string) error {
		b, err := os.ReadFile(path)
		if err == nil {
			b[c.dice.IntN(len(b))] ^= 1 << c.dice.IntN(8)
			err = os.WriteFile(path, b, 0o600)
		}
		return err
	}},
	{"truncated", func(c *campaign, path string) error { return os.Truncate(path, c.dice.Int64N(400)) }},
	{"grown", func(_ *campaign, path string) error { return os.Truncate(path, 300<<30) }},
	{"removed", func(_ *campaign, path string) error { return os.Remove(path) }},
	{"a link to itself", func(_ *campaign, path string) error {
		return errors.Join(os.Remove(path), os.Symlink(filepath.Base(path), path))
	}},
	{"a link to /dev/zero", func(_ *campaign, path string) error {
		return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path))
	}},
	{"a folder", func(_ *campaign, path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }},
	{"a fifo", func(_ *campaign, path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) }},
	{"another entry", func(_ *campaign, path string) error {
		all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(all[0])
		return errors.Join(err, os.WriteFile(path, b, 0o600))
	}},
}

// forge has an entry subtract.
func forge(_ *campaign, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(b, []byte("= add("), []byte("= sub("), 1), 0o600)
}

// rewriteCache rewrites an entry as one of rewrites does.
func (c *campaign) rewriteCache(how int) { c.rewriteEntry(rewrites[how].name, rewrites[how].do) }

// rewriteEntry rewrites an entry of the cache and asks for its program by its key: the answer is a fault, or the
// program that has the key.
func (c *campaign) rewriteEntry(how string, do func(*campaign, string) error) {
	c.Helper()
	c.ran["cache"]++
	r := c.raw()
	made, err := r.compile(addition(c.dice.Uint64()))
	r.close()
	require.NoError(c, err)
	found, err := filepath.Glob(filepath.Join(c.broker.cache, "*"+made.Key+"*"))
	require.NoError(c, err)
	require.Len(c, found, 1)
	require.NoError(c, do(c, found[0]), how)
	r = c.raw()
	defer r.close()
	var compiled wire.Compiled
	err = r.ask(wire.KindCompile, &wire.Compile{Key: made.Key}, &compiled)
	c.Logf("round %d, cache entry %s: %v", c.rounds, how, err)
	if err == nil {
		require.Equal(c, seven, string(r.evaluate(c, compiled)), "3 + 4 of a cache entry: %s", how)
	}
	_ = os.RemoveAll(found[0])
	c.sane("cache entry " + how)
}

// raw makes an admitted connection of this process.
func (c *campaign) raw() *raw {
	c.Helper()
	r, err := dial(c.broker.path)
	require.NoError(c, err)
	var reply wire.HelloReply
	require.NoError(c, r.ask(wire.KindHello, &wire.Hello{Version: wire.Version}, &reply))
	return r
}

// evaluate computes 3 + 4 by a program and returns the first number of its result.
func (r *raw) evaluate(c *campaign, compiled wire.Compiled) []byte {
	c.Helper()
	x, err := r.ready(compiled)
	require.NoError(c, err)
	defer closeAll(x.surfaces...)
	for i, v := range []string{three, four} {
		_, err := unix.Pwrite(x.surfaces[i], []byte(v), 0)
		require.NoError(c, err)
	}
	require.NoError(c, r.ask(wire.KindEvaluate, &wire.Evaluate{Request: x.request, QoS: 21}, &wire.Done{}))
	got := make([]byte, 2)
	_, err = unix.Pread(x.surfaces[2], got, 0)
	require.NoError(c, err)
	return got
}
