//go:build !macrules

package unimem_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// fewDescriptors lowers the limit on descriptors until the end of the test.
func fewDescriptors(t *testing.T) {
	t.Helper()
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: old.Max}))
	t.Cleanup(func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) })
}

// fill opens Blocks until the descriptors are used up.
func (k *kept) fill(t *testing.T) {
	t.Helper()
	for {
		b, err := unimem.Open(page)
		if err != nil {
			require.ErrorIs(t, err, unimem.ErrExhausted)
			require.ErrorIs(t, err, unimem.ErrCreate)
			require.ErrorIs(t, err, unix.EMFILE)
			require.ErrorContains(t, err, "ulimit -n")
			require.ErrorContains(t, err, "open in this process")
			return
		}
		*k = append(*k, b)
	}
}

// On Linux descriptors run out: Open, Share and Adopt succeed after idle Blocks are closed,
// and fail if there are none.
func TestDescriptorsRunOut(t *testing.T) {
	b, err := unimem.Open(page)
	require.NoError(t, err)
	f, err := b.Share()
	require.NoError(t, err)
	calls := map[string]func() (func() error, error){
		"open": func() (func() error, error) {
			b, err := unimem.Open(page)
			return b.Close, err
		},
		"cells": func() (func() error, error) {
			g, err := unimem.NewGrid(64, 3, unimem.SurfacePerCell())
			return g.Close, err
		},
		"share": func() (func() error, error) {
			f, err := b.Share()
			return f.Close, err
		},
		"adopt": func() (func() error, error) {
			b, err := unimem.Adopt(f, page)
			return b.Close, err
		},
	}
	fewDescriptors(t)
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			var idle kept
			idle.fill(t)
			live := unimem.Live()
			_, err := call()
			require.ErrorIs(t, err, unimem.ErrExhausted)
			require.Equal(t, live, unimem.Live())
			whenExhausted(t, idle.free)
			done, err := call()
			require.NoError(t, err)
			require.NoError(t, done())
			require.Empty(t, idle)
		})
	}
	require.NoError(t, f.Close())
	require.NoError(t, b.Close())
}

// Errors of the kernel that mean exhaustion, and other errors.
func TestErrorsOfExhaustion(t *testing.T) {
	for errno, hint := range map[unix.Errno]string{
		unix.EMFILE: "ulimit -n", unix.ENFILE: "fs.file-max", unix.ENOMEM: "ulimit -v", unix.EACCES: "",
		unix.EINVAL: "",
	} {
		err := unimem.CreateError("map", "mmap", page, errno)
		require.ErrorIs(t, err, unimem.ErrCreate)
		require.ErrorIs(t, err, errno)
		require.ErrorContains(t, err, "mmap")
		require.Equal(t, hint != "", errors.Is(err, unimem.ErrExhausted), errno)
		require.ErrorContains(t, err, hint)
	}
}
