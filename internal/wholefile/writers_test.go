package wholefile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/wholefile"
)

// Writers replace and remove one file concurrently, by its name and through a link. A reader
// always gets the whole content of one of them, and no writer fails.
func TestManyWritersOfOneFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		link = path // this system makes no links here
	}
	const writers, size = 4, 1 << 12
	rounds := effort.Rounds(300, 75)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			name := path
			if w%2 == 1 {
				name = link
			}
			for i := range rounds {
				content := bytes.Repeat([]byte{byte('a' + w)}, size)
				err := wholefile.Replace(name, func(to io.Writer) error {
					if _, err := to.Write(content[:1]); err != nil {
						return err
					}
					_, err := to.Write(content[1:])
					return err
				})
				if err != nil {
					t.Error(err)
				}
				got, err := os.ReadFile(path)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
				if err == nil && (len(got) != size || bytes.Count(got, got[:1]) != size) {
					t.Errorf("%d bytes, not all of one writer", len(got))
				}
				if i%7 == 0 {
					os.Remove(path)
				}
			}
		})
	}
	all.Wait()
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}
