//go:build unix

package safetensors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// A pipe without a writer is refused: opening it would wait for one.
func TestPipesAreRefused(t *testing.T) {
	pipe := func(path string) string {
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		return path
	}
	folder, indexed, listed := t.TempDir(), t.TempDir(), t.TempDir()
	file := pipe(filepath.Join(folder, "m"+extension))
	index := pipe(filepath.Join(indexed, "m"+indexExtension))
	pipe(filepath.Join(listed, "p"+extension))
	require.NoError(t, os.WriteFile(filepath.Join(listed, "m"+indexExtension),
		fmt.Appendf(nil, `{"weight_map":{"a":"p%s"}}`, extension), 0o600))
	tape, err := unimem.Start(1 << 16)
	require.NoError(t, err)
	defer func() { require.NoError(t, tape.Close()) }()
	for _, path := range []string{file, folder, index, indexed, listed} {
		for name, open := range map[string]func() (*File, error){
			"open": func() (*File, error) { return Open(path) },
			"load": func() (*File, error) { return Load(context.Background(), path, tape) },
			"auto": func() (*File, error) { return Load(context.Background(), path, tape, Auto()) },
		} {
			done := make(chan error, 1)
			go func() {
				_, err := open()
				done <- err
			}()
			select {
			case err := <-done:
				require.ErrorIs(t, err, ErrHeader, "%s %s", name, path)
			case <-time.After(time.Minute):
				t.Fatalf("%s of %s waits for a writer", name, path)
			}
		}
	}
}

// A pipe, a device or a folder is not replaced by a file, and a link stays one.
func TestWriterReplacesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	nameless, err := os.Create(file)
	require.NoError(t, err)
	defer nameless.Close()
	require.NoError(t, os.Remove(file))
	for _, path := range []string{pipe, dir, os.DevNull, fmt.Sprint("/dev/fd/", nameless.Fd())} {
		_, err := Create(path, nil)
		require.ErrorIs(t, err, os.ErrExist, path)
	}
	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink("loop", loop))
	_, err = Create(loop, nil)
	require.ErrorIs(t, err, syscall.ELOOP)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink("file", link))
	w, err := Create(link, nil, NoSync())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode(), "permissions stay")
	f, err := Open(file)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
