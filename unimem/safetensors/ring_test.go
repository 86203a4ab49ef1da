package safetensors

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem/internal/uring"
)

// ringed loads path with Ring, and skips the test where that does not go through io_uring.
func ringed(t *testing.T, path string, opts ...Option) *File {
	t.Helper()
	f, err := Load(t.Context(), path, tape(t, 4*part), append(opts, Ring())...)
	require.NoError(t, err)
	if r := f.Report(); r.Ringed == 0 {
		require.ErrorIs(t, r.Ring, ErrRing)
		require.NoError(t, f.Close())
		t.Skip(r.Ring)
	}
	return f
}

func TestLoadWithRing(t *testing.T) {
	path, data := large(t)
	for name, opts := range map[string][]Option{"": nil, "one at a time": {Workers(1)}} {
		t.Run(name, func(t *testing.T) {
			f := ringed(t, path, opts...)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, info.Size(), f.Report().Ringed)
			require.Equal(t, Direct, f.Report().Access)
			b, err := f.Tensor("b")
			require.NoError(t, err)
			require.True(t, bytes.Equal(data[1001:], b.Bytes()))
			require.NoError(t, f.Close())
		})
	}
}

// Where io_uring cannot be used, Load reads without it, and says so.
func TestRingFallsBack(t *testing.T) {
	path, data := large(t)
	refused := &uring.Error{Call: "io_uring_setup", Err: errors.ErrUnsupported, Why: "a test forbids it"}
	for name, c := range map[string]struct {
		opts []Option
		word string
	}{
		"refused": {[]Option{func(c *config) {
			c.newRing = func(int) (*uring.Ring, error) { return nil, refused }
		}}, "a test forbids it"},
		"buffered": {[]Option{Buffered()}, "Buffered"},
		"no direct reads": {[]Option{func(c *config) {
			c.open = func(path string, _ bool) (source, bool, error) {
				f, err := os.Open(path)
				return f, false, err
			}
		}}, "no direct reads"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Load(t.Context(), path, tape(t, 3*part), append(c.opts, Ring())...)
			require.NoError(t, err)
			r := f.Report()
			require.ErrorIs(t, r.Ring, ErrRing)
			require.ErrorContains(t, r.Ring, c.word)
			require.Zero(t, r.Ringed)
			b, err := f.Tensor("b")
			require.NoError(t, err)
			require.True(t, bytes.Equal(data[1001:], b.Bytes()))
			require.NoError(t, f.Close())
		})
	}
	f, err := Load(t.Context(), path, tape(t, 3*part))
	require.NoError(t, err)
	require.NoError(t, f.Report().Ring, "without the option there is nothing to say")
	require.NoError(t, f.Close())
}

var errMemlock = &uring.Error{Call: "io_uring_register", Err: errors.ErrUnsupported, Why: "ulimit -l"}

// Memory that cannot be registered is read to all the same.
func TestRingWithoutRegistration(t *testing.T) {
	path, data := large(t)
	f := ringed(t, path, func(c *config) { c.register = func(*uring.Ring, []byte) error { return errMemlock } })
	b, err := f.Tensor("b")
	require.NoError(t, err)
	require.True(t, bytes.Equal(data[1001:], b.Bytes()))
	require.ErrorIs(t, f.Report().Ring, errMemlock)
	require.NoError(t, f.Close())
}

// before calls f before the first read, in the place of the registration.
func before(f func()) Option {
	return func(c *config) { c.register = func(*uring.Ring, []byte) error { f(); return errMemlock } }
}

func TestRingIsCancelled(t *testing.T) {
	path, _ := large(t)
	require.NoError(t, ringed(t, path).Close())
	ctx, cancel := context.WithCancelCause(t.Context())
	own := errors.New("own")
	_, err := Load(ctx, path, tape(t, 3*part), Ring(), before(func() { cancel(own) }))
	require.ErrorIs(t, err, own)
	require.ErrorContains(t, err, path)
}

// A file that becomes shorter, or is written to, while it is read.
func TestRingAndAFileThatChanges(t *testing.T) {
	path, _ := large(t)
	require.NoError(t, ringed(t, path).Close())
	_, err := Load(t.Context(), path, tape(t, 3*part), Ring(), before(func() {
		require.NoError(t, os.Truncate(path, part+5))
	}))
	require.ErrorIs(t, err, ErrTruncated)
	require.ErrorContains(t, err, "at byte ")

	path, _ = large(t)
	_, err = Load(t.Context(), path, tape(t, 3*part), Ring(), before(func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = f.WriteString(strings.Repeat("x", 5000))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}))
	require.ErrorIs(t, err, ErrChanged)
}
