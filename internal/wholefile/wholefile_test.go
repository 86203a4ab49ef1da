package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anekit/anekit/internal/host"

	"github.com/stretchr/testify/require"
)

// holds checks names and contents of all files in a folder.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range entries {
		text := "a folder"
		if !e.IsDir() {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			text = string(b)
		}
		got[e.Name()] = text
	}
	require.Equal(t, want, got)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// stage creates path and writes text to it, not yet committed.
func stage(t *testing.T, path, text string) *File {
	t.Helper()
	f, err := Create(path)
	require.NoError(t, err)
	t.Cleanup(f.Discard)
	n, err := io.WriteString(f, text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	return f
}

// requireFault checks the form of an error of the package.
func requireFault(t *testing.T, err error, path string) {
	t.Helper()
	var p *fs.PathError
	require.ErrorAs(t, err, &p)
	require.Equal(t, path, p.Path)
	require.NotContains(t, err.Error(), ".tmp", "an error has no path of a temporary file")
	require.NotContains(t, err.Error(), "\n")
}

func TestAppearsOnCommitOnly(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "fresh")
	put(t, old, "before")
	a, b := stage(t, old, "after"), stage(t, fresh, "new")
	kept, err := os.ReadFile(old)
	require.NoError(t, err)
	require.Equal(t, "before", string(kept))
	require.NoFileExists(t, fresh)
	require.NoError(t, CommitAll(a, b))
	holds(t, dir, map[string]string{"old": "after", "fresh": "new"})

	a.Discard()
	require.ErrorIs(t, a.Commit(), fs.ErrClosed)
	_, err = a.Write([]byte("late"))
	require.ErrorIs(t, err, fs.ErrClosed)
	requireFault(t, err, old)
	holds(t, dir, map[string]string{"old": "after", "fresh": "new"})
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	put(t, old, "before")
	for _, path := range []string{old, filepath.Join(dir, "fresh")} {
		f := stage(t, path, "unwanted")
		f.Discard()
		f.Discard()
		err := f.Commit()
		require.ErrorIs(t, err, fs.ErrClosed)
		requireFault(t, err, path)
	}
	(*File)(nil).Discard()
	holds(t, dir, map[string]string{"old": "before"})
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, werr := io.WriteString(w, text)
			return errors.Join(werr, err)
		}
	}
	broken := errors.New("broken")
	require.ErrorIs(t, Replace(path, write("half", broken)), broken)
	holds(t, dir, map[string]string{})
	require.NoError(t, Replace(path, write("whole", nil)))
	require.ErrorIs(t, Replace(path, write("half", broken)), broken)
	holds(t, dir, map[string]string{"x": "whole"})
	require.NoError(t, Replace(path, write("", nil)))
	holds(t, dir, map[string]string{"x": ""})
	require.Panics(t, func() { _ = Replace(path, func(io.Writer) error { panic("fault of the caller") }) })
	holds(t, dir, map[string]string{"x": ""})
	require.ErrorIs(t, Replace(filepath.Join(dir, "none", "x"), write("", nil)), fs.ErrNotExist)
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "mine")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for name, path := range map[string]string{
		"no name":             "",
		"missing folder":      filepath.Join(dir, "none", "x"),
		"folder":              filepath.Join(dir, "folder"),
		"folder with slash":   filepath.Join(dir, "folder") + string(filepath.Separator),
		"new name with slash": filepath.Join(dir, "none") + string(filepath.Separator),
		"below a file":        filepath.Join(dir, "file", "x"),
		"zero byte":           filepath.Join(dir, "a\x00b"),
		"long name":           filepath.Join(dir, strings.Repeat("n", 5000)),
		"root":                filepath.VolumeName(dir) + string(filepath.Separator),
		"this folder":         ".",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Create(path)
			require.Nil(t, f)
			requireFault(t, err, path)
			require.NotNil(t, Cause(err))
		})
	}
	holds(t, dir, map[string]string{"file": "mine", "folder": "a folder"})
}

// TestCommitFails replaces destinations by folders before Commit.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	put(t, name("c"), "before")
	a, b, c := stage(t, name("a"), "1"), stage(t, name("b"), "2"), stage(t, name("c"), "3")
	require.NoError(t, os.MkdirAll(filepath.Join(name("b"), "full"), 0o700))
	requireFault(t, CommitAll(a, b, c), name("b"))
	holds(t, dir, map[string]string{"a": "1", "b": "a folder", "c": "before"})
}

// TestWriteFails makes the second of two files fail; neither may appear, even if the caller
// ignores the error of Write.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	good, bad := stage(t, filepath.Join(dir, "good"), "1"), stage(t, filepath.Join(dir, "bad"), "2")
	whole := bad.file
	broken, err := os.Open(whole.Name()) // not for writing
	require.NoError(t, err)
	bad.file = broken
	_, err = bad.Write([]byte("lost"))
	requireFault(t, err, bad.path)
	require.NoError(t, broken.Close())
	bad.file = whole
	_, err = bad.Write([]byte("and more"))
	requireFault(t, err, bad.path)
	err = CommitAll(good, bad)
	requireFault(t, err, bad.path)
	holds(t, dir, map[string]string{})
}

func TestFolderGone(t *testing.T) {
	if host.Windows {
		t.Skip("Windows keeps a folder in which a file is open; run on Linux or macOS")
	}
	dir := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	f := stage(t, filepath.Join(dir, "x"), "text")
	require.NoError(t, os.RemoveAll(dir))
	err := f.Commit()
	require.ErrorIs(t, err, fs.ErrNotExist)
	requireFault(t, err, filepath.Join(dir, "x"))
}

func TestSymbolicLinks(t *testing.T) {
	for name, c := range map[string]struct{ link, to, want string }{
		"to a file":                {"link", "target", "target"},
		"to nothing yet":           {"link", "fresh", "fresh"},
		"chain":                    {"link", "middle", "target"},
		"up from a linked folder":  {"link", "deep/../up", "a/up"},
		"out of a linked folder":   {"deep/out", "../up", "a/up"},
		"absolute to nothing yet":  {"link", "ABS/fresh", "fresh"},
		"to nothing, by two links": {"link", "toward", "fresh"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
			put(t, filepath.Join(dir, "target"), "before")
			link := filepath.Join(dir, c.link)
			for _, l := range [][2]string{{"a/b", "deep"}, {"target", "middle"}, {"fresh", "toward"},
				{strings.Replace(c.to, "ABS", dir, 1), c.link}} {
				if err := os.Symlink(filepath.FromSlash(l[0]), filepath.Join(dir, l[1])); err != nil {
					t.Skipf("this system makes no symbolic links (%v); run on Linux or macOS", err)
				}
			}
			if host.Windows && strings.Contains(c.to, "..") {
				t.Skip("Windows resolves .. before links; run on Linux or macOS")
			}
			require.NoError(t, stage(t, link, "after").Commit())
			info, err := os.Lstat(link)
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&fs.ModeSymlink, "the link was replaced")
			got, err := os.ReadFile(filepath.Join(dir, c.want))
			require.NoError(t, err)
			require.Equal(t, "after", string(got))
		})
	}
}

func TestLinkLoop(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.Symlink(a, b), os.Symlink(b, a)); err != nil {
		t.Skipf("this system makes no symbolic links (%v); run on Linux or macOS", err)
	}
	_, err := Create(a)
	requireFault(t, err, a)
	_, err = follow(a)
	require.Error(t, err)
}

// TestConcurrentDiscard ends the work from another goroutine, like an interrupt: the file is
// then complete or absent.
func TestConcurrentDiscard(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("text", 1000)
	for range 50 {
		path := filepath.Join(dir, "x")
		f, err := Create(path)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(f.Discard)
		for i := range 10 {
			_, err = f.Write([]byte(text[i*400 : (i+1)*400]))
			if err != nil {
				require.ErrorIs(t, err, fs.ErrClosed)
			}
		}
		err = f.Commit()
		wg.Wait()
		if err != nil {
			require.ErrorIs(t, err, fs.ErrClosed)
			holds(t, dir, map[string]string{})
			continue
		}
		holds(t, dir, map[string]string{"x": text})
		require.NoError(t, os.Remove(path))
	}
}

// WriteAt fills a file in any order, and what it wrote can be read before Commit.
func TestWriteAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	put(t, path, "before")
	f, err := Create(path)
	require.NoError(t, err)
	defer f.Discard()
	f.NoSync()
	for _, at := range []int64{4, 0} {
		_, err = f.WriteAt([]byte("soonlate")[at:at+4], at)
		require.NoError(t, err)
	}
	got := make([]byte, 9)
	n, err := f.ReadAt(got, 0)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "soonlate", string(got[:n]))
	require.NoError(t, f.Commit())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "soonlate", string(text))
}

// The first error of WriteAt is that of all that follows, as with Write.
func TestWriteAtFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := Create(path)
	require.NoError(t, err)
	defer f.Discard()
	_, first := f.WriteAt([]byte("x"), -1)
	requireFault(t, first, path)
	_, err = f.WriteAt([]byte("x"), 0)
	require.Equal(t, first, err)
	require.ErrorContains(t, f.Commit(), path)
	require.NoFileExists(t, path)
}
