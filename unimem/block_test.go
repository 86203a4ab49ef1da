package unimem_test

import (
	"bytes"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/blocktest"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

func TestBlocks(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		blocktest.Run(t, func(size int, opts ...unimem.Option) (*unimem.Block, error) {
			return unimem.Open(size, append(opts, memory)...)
		})
	})
}

func TestNilAndZero(t *testing.T) {
	for _, b := range []*unimem.Block{nil, {}} {
		require.NoError(t, b.Close())
		require.Nil(t, b.Bytes())
		require.Zero(t, b.Handle())
		require.False(t, b.Pinned())
		require.Empty(t, b.Backing())
		require.ErrorIs(t, b.Retain(), unimem.ErrClosed)
		b.Release()
		_, err := unimem.Map(b)
		require.ErrorIs(t, err, unimem.ErrClosed)
	}
	var m *unimem.Mapping
	require.NoError(t, m.Close())
	require.Nil(t, m.Bytes())
}

func TestErrorText(t *testing.T) {
	_, err := unimem.Open(-5)
	require.EqualError(t, err, "unimem: open of -5 bytes: impossible size; a size is a positive number of bytes")
	cause := errors.New("cause")
	err = &unimem.Error{Base: errtext.Base{Op: "open", Err: unimem.ErrCreate, Cause: cause}, Size: 1}
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.NotErrorIs(t, err, unimem.ErrPin)
}

func TestIDsSkipZero(t *testing.T) {
	unimem.NearWrapID()
	seen := map[uint32]bool{}
	for range 5 {
		b, err := unimem.Open(1, unimem.OnHeap())
		require.NoError(t, err)
		require.NotZero(t, b.ID())
		seen[b.ID()] = true
		require.NoError(t, b.Close())
	}
	require.Len(t, seen, 5)
}

// Each failing call of the surface library gives the right sentinel and leaks nothing.
func TestSurfaceFailures(t *testing.T) {
	for call, want := range map[string]error{
		"CFDictionaryCreateMutable": unimem.ErrCreate,
		"CFNumberCreate":            unimem.ErrCreate,
		"IOSurfaceCreate":           unimem.ErrCreate,
		"IOSurfaceLock":             unimem.ErrLock,
		"IOSurfaceGetBaseAddress":   unimem.ErrLock,
		"IOSurfaceGetAllocSize":     unimem.ErrCreate,
		"IOSurfaceGetID":            unimem.ErrCreate,
	} {
		t.Run(call, func(t *testing.T) {
			f := surfacetest.New(t)
			f.Fail(call, 1)
			_, err := unimem.Open(1, blockoption.On(f.Table()))
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, call)
			require.Zero(t, f.Live())
		})
	}
	t.Run("IOSurfaceLookup", func(t *testing.T) {
		f := surfacetest.New(t)
		b, err := unimem.Open(1, blockoption.On(f.Table()))
		require.NoError(t, err)
		f.Fail("IOSurfaceLookup", 1)
		_, err = unimem.Map(b)
		require.ErrorIs(t, err, unimem.ErrCreate)
		require.NoError(t, b.Close(), "a failed Map does not hold the Block")
	})
	t.Run("IOSurfaceUnlock", func(t *testing.T) {
		f := surfacetest.New(t)
		b, err := unimem.Open(1, blockoption.On(f.Table()))
		require.NoError(t, err)
		f.Fail("IOSurfaceUnlock", 1)
		err = b.Close()
		require.ErrorIs(t, err, unimem.ErrRelease)
		require.ErrorContains(t, err, "IOSurfaceUnlock")
		require.NoError(t, b.Close(), "closed nevertheless")
	})
}

// lines collects log output from other goroutines.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestForgottenBlockIsReportedOnceAndStays(t *testing.T) {
	var log lines
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)

	start := unimem.Live()
	free, err := unimem.Forget(1)
	require.NoError(t, err)
	await.Until(t, "the report", func() bool {
		runtime.GC()
		return strings.Contains(log.String(), "forgotten")
	})
	runtime.GC()
	require.Equal(t, 1, strings.Count(log.String(), "forgotten"))
	require.Contains(t, log.String(), "WARN unimem: Block was forgotten")
	require.Equal(t, start.Forgotten+1, unimem.Live().Forgotten)
	require.Equal(t, start.Blocks+1, unimem.Live().Blocks, "the memory is still mapped")
	require.NoError(t, free())
}

func TestClosedBlockIsNotReported(t *testing.T) {
	start := unimem.Live().Forgotten
	for range 10 {
		b, err := unimem.Open(1)
		require.NoError(t, err)
		require.NoError(t, b.Close())
	}
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, start, unimem.Live().Forgotten)
}

// Every method of nil and of zero values behaves like one of a closed object.
func TestMethodsOfNil(t *testing.T) {
	for _, b := range []*unimem.Block{nil, {}} {
		require.Zero(t, b.Address())
		require.Zero(t, b.Size())
		require.Zero(t, b.ID())
		require.Zero(t, b.Handle())
		require.Nil(t, b.Bytes())
		require.False(t, b.Pinned())
		require.ErrorIs(t, b.Retain(), unimem.ErrClosed)
		require.NoError(t, b.Close())
		_, err := unimem.Map(b)
		require.ErrorIs(t, err, unimem.ErrClosed)
	}
	for _, p := range []*unimem.Tape{nil, {}} {
		_, err := p.Take(8, 8)
		require.Equal(t, unimem.ErrClosed, err)
		p.Clear()
		require.Zero(t, p.Used()+p.Free()+p.Total())
		require.Nil(t, p.Block())
		require.False(t, p.Owns([]byte{1}))
		require.NoError(t, p.Close())
	}
	for _, g := range []*unimem.Grid{nil, {}} {
		_, err := g.Take()
		require.Error(t, err)
		require.Error(t, g.Give(unimem.Cell{}))
		require.Zero(t, g.Free()+g.Total()+g.CellSize())
		require.NoError(t, g.Close())
	}
	for _, l := range []*unimem.Layout{nil, {}} {
		require.Zero(t, l.Total())
		require.Zero(t, l.Total())
		require.Nil(t, l.History())
		l.ClearPass()
		l.ClearTalk()
		for _, p := range []*unimem.Tape{l.Weights(), l.Scratch(), l.History()} {
			_, err := p.Take(1, 1)
			require.Equal(t, unimem.ErrClosed, err)
		}
		require.NoError(t, l.Close())
	}
}
