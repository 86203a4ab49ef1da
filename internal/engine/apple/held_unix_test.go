//go:build unix

package apple_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/objcbridge"
)

// hurried is a context whose deadline is now, and which does not end.
type hurried struct{ context.Context }

// Deadline implements context.Context.
func (hurried) Deadline() (time.Time, bool) { return time.Now(), true }

// held locks a program's folder as another process does, until release.
func held(t *testing.T, folder string) (release func()) {
	t.Helper()
	file, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	return func() {
		require.NoError(t, os.Remove(file.Name()))
		require.NoError(t, file.Close())
	}
}

// TestProgramHeldByAnotherProcess: calls wait for the other process until their deadline, and then name it. Nothing
// changes by that.
func TestProgramHeldByAnotherProcess(t *testing.T) {
	f := framework(t)
	e := open(t, func(c *apple.Config) { c.Bridge.KeepFiles = true })
	src, sum := adder(t, fresh(), oneFile)
	r := newSourceRig(t, e, src)
	require.Len(t, programFiles(t), 1)
	folder := programFiles(t)[0]
	holds := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, ane.ErrInUse)
		var b *objcbridge.Error
		require.ErrorAs(t, err, &b)
		require.Equal(t, objcbridge.ReasonHeld, b.Reason)
		require.ErrorContains(t, err, "another process")
	}

	release := held(t, folder)
	holds(r.model.Unload(hurried{t.Context()}))
	require.NoError(t, r.run(t.Context(), 1, sum), "still loaded")
	release()
	require.NoError(t, r.model.Unload(t.Context()))

	release = held(t, folder)
	before := f.Counts().Compiles
	holds(r.model.Load(hurried{t.Context()}))
	_, err := e.Compile(hurried{t.Context()}, src)
	holds(err)
	require.Equal(t, before, f.Counts().Compiles)
	release()
	require.NoError(t, r.model.Load(t.Context()))
	require.NoError(t, r.run(t.Context(), 2, sum))
}
