package safetensors_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem/safetensors"
)

// A file of another kind is called what it is, with a next step, and never by a length that its text means as a number.
func TestOtherKindsAreNamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.safetensors")
	for content, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 99\n": "malformed header: it is a Git LFS " +
			"pointer to a file of 99 bytes; run git lfs pull in its repository",
		"<!DOCTYPE html><html></html>": "it is an HTML page; download the file again",
		"":                             "file is truncated: it is empty; get the file again",
		"abc":                          "it is text; check the path",
		"GGUF\x03\x00\x00\x00":         "it is a GGUF file; give the safetensors that it was made of",
		"\xff\xfe\xfd\xfc\xfb\xfa\x00": "the file has 7 bytes",
		"\xff\xfe\xfd\xfc\xfb\xfa\x00\x01\x02": "the first 8 bytes are no length of a header, which is 100000000 at " +
			"most",
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := safetensors.Open(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
		_, err = safetensors.Open(dir)
		require.ErrorContains(t, err, want, "as the one file of a folder")
	}
	require.NoError(t, os.WriteFile(path, []byte("version https://git-lfs.github.com/spec/v1\nsize 9\n"), 0o600))
	index := filepath.Join(dir, "model.safetensors.index.json")
	require.NoError(t, os.WriteFile(index, []byte(`{"weight_map": {"w": "model.safetensors"}}`), 0o600))
	_, err := safetensors.Open(index)
	require.ErrorContains(t, err, path+": malformed header: it is a Git LFS pointer", "a shard")
	require.NoError(t, os.WriteFile(index, []byte("version https://git-lfs.github.com/spec/v1\nsize 9\n"), 0o600))
	_, err = safetensors.Open(index)
	require.ErrorContains(t, err, index+": malformed header: it is a Git LFS pointer")
}

func TestAFolderOfAnotherKindIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pytorch_model.bin"), nil, 0o600))
	_, err := safetensors.Open(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "it is a Hugging Face folder of PyTorch files; load it in PyTorch")
	t.Chdir(dir)
	_, err = safetensors.Open("org/model")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "may be the id of a model on a hub")
}
