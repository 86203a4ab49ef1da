package blob_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil/blob"
)

func TestFilesReturnTheirContent(t *testing.T) {
	f := blob.Files{"@model_path/a": []byte("A"), "@model_path/b": []byte("B")}
	data, err := f.ReadFile("@model_path/b")
	require.NoError(t, err)
	require.Equal(t, "B", string(data))
	_, err = f.ReadFile("@model_path/c")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "@model_path/a, @model_path/b")
}

func TestDirStaysInside(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "model")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "weights"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weights", "w.bin"), []byte("W"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(top, "secret"), []byte("S"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join(top, "secret"), filepath.Join(dir, "link")))

	data, err := blob.Dir(dir).ReadFile("@model_path/weights/w.bin")
	require.NoError(t, err)
	require.Equal(t, "W", string(data))

	data, err = blob.Dir(dir).ReadFile("@model_path/link")
	require.NoError(t, err, "the owner of the directory may link to other files")
	require.Equal(t, "S", string(data))

	for path, want := range map[string]string{
		"weights/w.bin":           "does not start with @model_path/",
		"@model_path/missing":     "no such file; put it there, or name the directory that holds missing",
		"@model_path/weights":     "not a regular file",
		"@model_path/../secret":   "the path is not inside the model's directory; name a file inside",
		"@model_path//etc/passwd": "is not inside",
		"@model_path/":            "is not inside",
		"":                        `"": the path does not start with @model_path/`,
	} {
		_, err := blob.Dir(dir).ReadFile(path)
		var e *blob.Error
		require.ErrorAs(t, err, &e, path)
		require.ErrorContains(t, err, want, path)
	}
	_, err = blob.Dir(filepath.Join(top, "nowhere")).ReadFile("@model_path/w")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
