//go:build !macrules

package broker

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// files lists what is in a folder and those below.
func files(t *testing.T, dir string) (all []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return err
	}))
	return all
}

// A broker whose disk is full compiles without keeping anything, and keeps again when
// there is room. A limit on the size of files stands in for the disk: writes fail in the
// middle, as they do there.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, Options{CacheDir: dir}, negation())
	r.negates(t, 1)
	kept := files(t, dir)
	require.Len(t, kept, 1)

	const room = 1 << 16 // bytes; more than the scratch memory of a run takes
	ctx := context.Background()
	compile := func(e *ane.Device, name string) (cached bool) {
		src := negation()
		src.File, src.Text = name, append([]byte("// "+name+strings.Repeat(" ", 2*room)+"\n"), src.Text...)
		m, err := e.Compile(ctx, src)
		require.NoError(t, err)
		defer func() { require.NoError(t, m.Close(ctx)) }()
		require.NoError(t, m.Load(ctx))
		in, out := memory(t, m.Inputs()[0]), memory(t, m.Outputs()[0])
		q, err := m.Bind(map[string]*ane.Tensor{m.Inputs()[0].Name: in},
			map[string]*ane.Tensor{m.Outputs()[0].Name: out})
		require.NoError(t, err)
		defer func() { require.NoError(t, q.Close()) }()
		receipt, err := m.Evaluate(ctx, q)
		require.NoError(t, err)
		return receipt.Receipt.Cached
	}
	pid := r.engine.(*engine).now.Load().child.cmd.Process.Pid
	var before unix.Rlimit
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: room, Max: unix.RLIM_INFINITY}, &before))
	require.False(t, compile(r.device, "full"))
	require.Equal(t, kept, files(t, dir), "neither an entry nor part of one")
	r.negates(t, 2)

	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &before, nil))
	require.False(t, compile(r.device, "room"))
	require.Len(t, files(t, dir), 2)
	again := newRig(t, Options{CacheDir: dir}, negation())
	require.True(t, compile(again.device, "room"), "another broker finds it")
	require.False(t, compile(again.device, "full"))
	require.Equal(t, 1, starts(r.engine), "the broker has lived through it")
}
