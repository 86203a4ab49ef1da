//go:build unix

package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/host"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	ordinary, ours := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	f, err := os.Create(ordinary)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, stage(t, ours, "").Commit())
	require.Equal(t, mode(t, ordinary), mode(t, ours), "a new file gets permissions from the umask")

	require.NoError(t, os.Chmod(ours, 0o646))
	staged := stage(t, ours, "text")
	require.Equal(t, fs.FileMode(0o600), mode(t, staged.file.Name()), "private while it is staged")
	require.NoError(t, staged.Commit())
	require.Equal(t, fs.FileMode(0o646), mode(t, ours), "an old file keeps its permissions")
}

func TestProtectedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o400))
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		require.NoError(t, f.Close())
		t.Skip("this user may write to protected files; run as another user than root")
	}
	_, err := Create(path)
	require.ErrorIs(t, err, fs.ErrPermission)
	requireFault(t, err, path)
	holds(t, dir, map[string]string{"x": "mine"})
}

func TestProtectedFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	path := filepath.Join(dir, "x")
	f, err := Create(path)
	if err == nil {
		f.Discard()
		t.Skip("this user may write to protected folders; run as another user than root")
	}
	require.ErrorIs(t, err, fs.ErrPermission)
	requireFault(t, err, path)
}

func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give a file away; run as root")
	}
	path := filepath.Join(t.TempDir(), "x")
	put(t, path, "before")
	require.NoError(t, os.Chown(path, 12345, 54321))
	require.NoError(t, stage(t, path, "after").Commit())
	info, err := os.Stat(path)
	require.NoError(t, err)
	s := info.Sys().(*syscall.Stat_t)
	require.Equal(t, [2]uint32{12345, 54321}, [2]uint32{s.Uid, s.Gid})
}

// pipe makes a named pipe and opens its reading end. Tests use it as a file that is not
// regular. They do not use devices of the system, which faulty code run as root would destroy.
func pipe(t *testing.T) (path string, reader *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	return path, reader
}

func TestPipe(t *testing.T) {
	path, reader := pipe(t)
	link := filepath.Join(filepath.Dir(path), "link")
	require.NoError(t, os.Symlink("pipe", link))
	for _, name := range []string{path, link} {
		f := stage(t, name, "text")
		got := make([]byte, 10)
		n, err := reader.Read(got)
		require.NoError(t, err)
		require.Equal(t, "text", string(got[:n]), "the reader gets it before Commit")
		require.NoError(t, f.Commit())
		f.Discard()
		require.ErrorIs(t, f.Commit(), fs.ErrClosed)
	}
	require.NotZero(t, mode(t, path)&fs.ModeNamedPipe, "the pipe was replaced")
}

func TestPipeWithoutReader(t *testing.T) {
	path, reader := pipe(t)
	require.NoError(t, reader.Close())
	_, err := Create(path)
	require.ErrorIs(t, err, syscall.ENXIO)
	require.ErrorContains(t, err, "this pipe has no reader")
	requireFault(t, err, path)
}

func TestPipeReaderLeaves(t *testing.T) {
	path, reader := pipe(t)
	f := stage(t, path, "text")
	require.NoError(t, reader.Close())
	_, err := f.Write([]byte("more"))
	require.ErrorIs(t, err, syscall.EPIPE)
	requireFault(t, f.Commit(), path)
}

// TestDiscardEndsWrite fills a pipe whose reader does not read.
func TestDiscardEndsWrite(t *testing.T) {
	if !host.Pipes {
		t.Skip("package os does not watch pipes on macOS, a Write waits for its reader; run on Linux")
	}
	path, _ := pipe(t)
	f := stage(t, path, "text")
	ended := make(chan error, 1)
	go func() {
		_, err := f.Write(make([]byte, 8<<20)) // more than the largest capacity of a pipe
		ended <- err
	}()
	f.Discard()
	require.ErrorIs(t, await.Value(t, ended), fs.ErrClosed)
}

// TestDescriptorOnly writes to a removed file: its link in /proc/self/fd reads
// "NAME (deleted)", and no file of that name must be created.
func TestDescriptorOnly(t *testing.T) {
	if !host.DescriptorPaths {
		t.Skip("only Linux has links to descriptors; run on Linux")
	}
	dir := t.TempDir()
	lost, err := os.Create(filepath.Join(dir, "lost"))
	require.NoError(t, err)
	defer lost.Close()
	_, err = lost.WriteString("a longer text before")
	require.NoError(t, err)
	require.NoError(t, os.Remove(lost.Name()))
	path := filepath.Join("/proc/self/fd", strconv.Itoa(int(lost.Fd())))
	require.NoError(t, stage(t, path, "after").Commit())
	got := make([]byte, 100)
	n, err := lost.ReadAt(got, 0)
	require.Equal(t, "after", string(got[:n]), "%v", err)
	holds(t, dir, map[string]string{})
}

// A pipe is refused without waiting for its writer, also one that takes the place of a file after Open has looked.
func TestOpenRefusesPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	for _, open := range []func(string) (*os.File, error){Open, openAny} {
		_, err := open(path)
		require.ErrorIs(t, err, ErrIrregular)
	}
	_, err := openAny(os.DevNull)
	require.ErrorIs(t, err, ErrIrregular)
}
