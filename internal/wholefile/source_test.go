package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/anekit/anekit/internal/host"

	"github.com/stretchr/testify/require"
)

// Create refuses every path to a file that the caller reads, and does not change the file.
func TestSourcesAreRefused(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	put(t, name("read"), "precious")
	put(t, name("other"), "other")
	in, err := os.OpenFile(name("read"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer in.Close()
	info, err := in.Stat()
	require.NoError(t, err)
	paths := []string{name("read"), filepath.Join(dir, "..", filepath.Base(dir), "read")}
	if os.Link(name("read"), name("hard")) == nil {
		paths = append(paths, name("hard"))
	}
	if os.Symlink("read", name("soft")) == nil && os.Symlink("soft", name("softer")) == nil {
		paths = append(paths, name("soft"), name("softer"))
	}
	if !host.Windows {
		paths = append(paths, "/dev/fd/"+strconv.Itoa(int(in.Fd())))
	}
	refused := func(path string) {
		f, err := Create(path, nil, info)
		require.Nil(t, f, path)
		requireFault(t, err, path)
		var e *SourceError
		require.ErrorAs(t, err, &e, path)
		require.True(t, os.SameFile(e.Source, info))
	}
	before, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, path := range paths {
		refused(path)
	}
	after, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, after, len(before))
	got, err := os.ReadFile(name("read"))
	require.NoError(t, err)
	require.Equal(t, "precious", string(got))

	f, err := Create(name("other"), info)
	require.NoError(t, err)
	require.Equal(t, int64(len("other")), f.Old().Size())
	f.Discard()
	f, err = Create(name("new"), info)
	require.NoError(t, err)
	require.Nil(t, f.Old())
	f.Discard()
	f, err = Create(os.DevNull, must(os.Stat(os.DevNull)))
	require.NoError(t, err, "writing there does not change the data that is read")
	f.Discard()

	if host.DescriptorPaths { // a file without a name, which only its descriptor refers to
		require.NoError(t, os.Remove(name("read")))
		require.NoError(t, os.Remove(name("hard")))
		refused("/proc/self/fd/" + strconv.Itoa(int(in.Fd())))
		got := make([]byte, 20)
		n, _ := in.ReadAt(got, 0)
		require.Equal(t, "precious", string(got[:n]))
	}
}

func must(info fs.FileInfo, err error) fs.FileInfo {
	if err != nil {
		panic(err)
	}
	return info
}

// Two destinations are one file if the file system treats their names as the same.
func TestSameName(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "probe"), "")
	_, err := os.Stat(filepath.Join(dir, "PROBE"))
	folds := err == nil
	lower, upper := stage(t, filepath.Join(dir, "y"), "1"), stage(t, filepath.Join(dir, "Y"), "2")
	require.Equal(t, folds, lower.Same(upper))
	require.True(t, lower.Same(lower))
	other := stage(t, filepath.Join(dir, "z"), "3")
	require.False(t, lower.Same(other))
	for _, f := range []*File{lower, upper, other} {
		f.Discard()
	}
	holds(t, dir, map[string]string{"probe": ""})
	require.True(t, oneName(filepath.Join(dir, "none"), "y", "Y"), "the same if the test is impossible")
}

// All paths to the file of a descriptor are one destination.
func TestSameDescriptor(t *testing.T) {
	if !host.DescriptorPaths {
		t.Skip("only Linux has paths to a file without a name; run on Linux")
	}
	path := filepath.Join(t.TempDir(), "x")
	put(t, path, "")
	open, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer open.Close()
	require.NoError(t, os.Remove(path))
	fd := "/proc/self/fd/" + strconv.Itoa(int(open.Fd()))
	a, b := stage(t, fd, "1"), stage(t, fd, "2")
	require.True(t, a.Same(b))
	null, other := stage(t, os.DevNull, "1"), stage(t, os.DevNull, "2")
	require.False(t, null.Same(other), "several Files may write to a device")
}
