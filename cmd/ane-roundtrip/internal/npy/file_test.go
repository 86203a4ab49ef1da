package npy

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/anekit/anekit/internal/host"

	"github.com/stretchr/testify/require"
)

func sample() *Array { return &Array{Kind: Float16, Shape: []int{2}, Data: []byte{1, 2, 3, 4}} }

// onlyFiles checks that a folder holds these files and no temporary one.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, names, got)
}

func TestFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	require.NoError(t, WriteFile(path, sample()))
	other := &Array{Kind: Int32, Shape: []int{1, 1}, Data: []byte{9, 9, 9, 9}}
	require.NoError(t, WriteFile(path, other), "an existing file is replaced")
	got, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, other, got)
	onlyFiles(t, dir, "x.npy")
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.npy")
	require.NoError(t, os.WriteFile(cut, []byte(golden[0].want[:130]), 0o600))
	sparse := filepath.Join(dir, "sparse.npy")
	require.NoError(t, os.WriteFile(sparse, file(1, dict("|i1", "False", "(1099511627776,)"), ""), 0o600))
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Logf("no sparse file of 1 TiB here (%v): the claim is refused by the limit instead", err)
	}
	cases := []struct{ path, want string }{
		{filepath.Join(dir, "none.npy"), "cannot read the file: "},
		{dir, "is a folder; name a .npy file"},
		{cut, "byte 130: the file ends within 8 bytes of data ([1 2 1 2] of float16)"},
		{sparse, "more than"},
	}
	for _, c := range cases {
		_, err := ReadFile(c.path)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.path, e.File)
		require.ErrorContains(t, err, c.path+": ")
		require.ErrorContains(t, err, c.want)
	}
	_, err := ReadFile(cases[0].path)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestWriteFileErrors(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for _, path := range []string{filepath.Join(dir, "none", "x.npy"), filepath.Join(dir, "folder"), ""} {
		err := WriteFile(path, sample())
		var e *Error
		require.ErrorAs(t, err, &e, path)
		require.Equal(t, path, e.File)
		require.NotEmpty(t, e.Fix)
	}
	var e *Error
	require.ErrorAs(t, WriteFile(filepath.Join(dir, "x.npy"), nil), &e)
	require.Equal(t, filepath.Join(dir, "x.npy"), e.File)
	onlyFiles(t, dir, "folder")
}

func TestFailedWriteLeavesOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	short := &Array{Kind: Float16, Shape: []int{3}, Data: []byte{1, 2}}
	require.Error(t, WriteFile(path, short))
	require.NoFileExists(t, path)
	require.NoError(t, WriteFile(path, sample()))
	require.Error(t, WriteFile(path, short))
	got, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, sample(), got)
	onlyFiles(t, dir, "x.npy")
}

func TestPermissions(t *testing.T) {
	if host.Windows {
		t.Skip("Windows has no permission bits; run on Linux or macOS")
	}
	dir := t.TempDir()
	ordinary, ours := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	f, err := os.Create(ordinary)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, WriteFile(ours, sample()))
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode()
	}
	require.Equal(t, mode(ordinary), mode(ours), "a new file obeys the umask")
	require.NoError(t, os.Chmod(ours, 0o640))
	require.NoError(t, WriteFile(ours, sample()))
	require.Equal(t, fs.FileMode(0o640), mode(ours), "an old file keeps its permissions")
}

func TestProtectedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o400))
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		require.NoError(t, f.Close())
		t.Skip("this user may write to protected files; run as another user than root")
	}
	require.ErrorIs(t, WriteFile(path, sample()), fs.ErrPermission)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "mine", string(got))
}

func TestSymbolicLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("this system makes no symbolic links (%v); run on Linux or macOS", err)
	}
	require.NoError(t, WriteFile(link, sample()))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	got, err := ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, sample(), got)
}
