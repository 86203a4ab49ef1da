package sniff_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/sniff"
)

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7873600\n"

// archive returns a zip archive of one file.
func archive(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: name})
	require.NoError(t, err)
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// weight returns the start of a weight file.
func weight(version uint32) string {
	b := make([]byte, 128)
	binary.LittleEndian.PutUint32(b, 1)
	binary.LittleEndian.PutUint32(b[4:], version)
	binary.LittleEndian.PutUint32(b[64:], 0xDEADBEEF)
	return string(b)
}

func TestKindsOfFiles(t *testing.T) {
	for _, c := range []struct {
		want       sniff.Kind
		name, data string
	}{
		{sniff.MIL, "a", "program(1.3)\n{"},
		{sniff.MIL, "a", "\uFEFF// é\n/* more */ program<1.0>\n{"},
		{sniff.MIL, "a.mil", "not yet a program"},
		{sniff.Text, "a.txt", "programs are lists"},
		{sniff.Model, "a", "\x08\x07\xb2\x1f\x83\x01\x08\x01\x12\x7f"},
		{sniff.Model, "a", "\x08\x06\x12\xab\x05\x0a\x20\x0a\x05image"},
		{sniff.Model, "a", "\x08\x07\x12\x04R\x02\x0a\x00"},
		{sniff.Model, "a.mlmodel", "\x12\x04"},
		{sniff.ONNX, "a", "\x08\x08\x12\x07pytorch\x1a\x052.1.0"},
		{sniff.ONNX, "a", "\x08\x03\x3a\x08\x0a\x06\x0a\x01x\x12\x01y"},
		{sniff.ONNX, "a.onnx", "\x08\x08\x12\x01\x0a"},
		{sniff.Weights, "weight.bin", weight(2)},
		{sniff.Weights, "a", weight(1)},
		{sniff.Binary, "a", weight(7)},
		{sniff.Safetensors, "a", "\x02\x00\x00\x00\x00\x00\x00\x00{}"},
		{sniff.Binary, "a", "\xff\xff\x00\x00\x00\x00\x00\x00{}"},
		{sniff.Npy, "a", "\x93NUMPY\x01\x00"},
		{sniff.Npz, "a", archive(t, "x.npy")},
		{sniff.PyTorch, "a", archive(t, "archive/data.pkl")},
		{sniff.PyTorch, "a", "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M"},
		{sniff.PyTorch, "a.pth", "\x80\x04\x95\x00"},
		{sniff.Pickle, "a", "\x80\x04\x95\x00"},
		{sniff.Zip, "a", archive(t, "A.mlpackage/Manifest.json")},
		{sniff.Tar, "a", strings.Repeat("\x00", 257) + "ustar"},
		{sniff.Gzip, "a.tar.gz", "\x1f\x8b\x08\x00"},
		{sniff.GGUF, "a", "GGUF\x03\x00\x00\x00"},
		{sniff.HDF5, "a", "\x89HDF\r\n\x1a\n"},
		{sniff.TFLite, "a", "\x1c\x00\x00\x00TFL3"},
		{sniff.LFS, "weight.bin", pointer},
		{sniff.Annex, "a", "/annex/objects/MD5E-s1--0\n"},
		{sniff.HTML, "a.safetensors", "\n<!DOCTYPE html><html>"},
		{sniff.HTML, "a", "<?xml version='1.0'?><!DOCTYPE html><html>"},
		{sniff.XML, "a", "<?xml version='1.0'?><Error>"},
		{sniff.Plist, "Info.plist", "<?xml version='1.0'?><!DOCTYPE plist><plist>"},
		{sniff.JSON, "a", `{"error": "not found"}`},
		{sniff.Index, "m.safetensors.index.json", `{"weight_map": {}}`},
		{sniff.Empty, "a", ""},
		{sniff.Picture, "a", "\x89PNG\r\n\x1a\n"},
		{sniff.Picture, "a", "\xff\xd8\xff\xe0"},
		{sniff.HWX, "a", "\xce\xfa\xef\xbe"},
		{sniff.Binary, "a", "\x00\x01\x02\x1b[31m"},
		{sniff.Binary, "a", "\x08"},
		{sniff.Text, "a", "caf\xc3"}, // the read ended within a character
	} {
		f := sniff.Start(c.name, []byte(c.data), int64(len(c.data)))
		require.Equal(t, c.want, f.Kind, "%s %q", c.name, c.data)
		path := filepath.Join(t.TempDir(), c.name)
		require.NoError(t, os.WriteFile(path, []byte(c.data), 0o600))
		require.Equal(t, c.want, sniff.Path(path).Kind)
	}
}

// The words of a file contain no bytes of it, fit a line, and have a next step.
func TestWordsAreOnOneLine(t *testing.T) {
	f := sniff.Start("weight.bin", []byte(pointer), int64(len(pointer)))
	require.Equal(t, "weight.bin is a Git LFS pointer to a file of 7873600 bytes; run git lfs pull in its "+
		"repository", f.String())
	require.True(t, f.Absent())
	require.True(t, f.Foreign(sniff.Weights))
	f = sniff.Start("a", []byte("\x1b[31m\x00"), 6)
	require.Equal(t, "a is of no known format; check the path", f.String())
	require.False(t, f.Foreign(sniff.MIL))
}

// tree makes folders, which end in a slash, and files.
func tree(t *testing.T, dir string, paths ...string) {
	t.Helper()
	for _, p := range paths {
		full := filepath.Join(dir, filepath.FromSlash(p))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		if strings.HasSuffix(p, "/") {
			require.NoError(t, os.MkdirAll(full, 0o700))
		} else {
			require.NoError(t, os.WriteFile(full, []byte("x"), 0o600))
		}
	}
}

func TestKindsOfFolders(t *testing.T) {
	for name, c := range map[string]struct {
		want  sniff.Kind
		words string
		paths []string
	}{
		"a.mlpackage":  {sniff.Package, "a Core ML package", []string{"d/"}},
		"renamed":      {sniff.Package, "", []string{"Data/com.apple.CoreML/model.mlmodel"}},
		"a.mlmodelc":   {sniff.Compiled, "", []string{"weights/"}},
		"compiled":     {sniff.Compiled, "", []string{"model.mil"}},
		"old.mlmodelc": {sniff.OldNet, "a compiled neural network", []string{"model.espresso.net", "coremldata.bin"}},
		"hf":           {sniff.ModelFolder, "generate --model takes it", []string{"config.json", "a.safetensors"}},
		"pt":           {sniff.PyTorch, "PyTorch files", []string{"config.json", "pytorch_model.bin"}},
		"tf":           {sniff.SavedModel, "", []string{"saved_model.pb"}},
		"empty":        {sniff.Folder, "an empty folder", []string{"./"}},
		"one":          {sniff.Folder, "give ", []string{"a.mlpackage/", "readme"}},
		"two": {sniff.Folder, "a folder with 5 models; give one of them: ", []string{"a.mil", "b.mlmodel", "c.mlpackage/",
			"d.mlmodelc/", "e.mil"}},
	} {
		dir := filepath.Join(t.TempDir(), name)
		tree(t, dir, append(c.paths, "./")...)
		f := sniff.Path(dir)
		require.Equal(t, c.want, f.Kind, name)
		require.Contains(t, f.String(), c.words)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink(loop, loop))
	require.Contains(t, sniff.Path(loop).String(), "not readable: too many")
	f := sniff.Path(filepath.Join(dir, "x.mil"))
	require.Equal(t, sniff.Missing, f.Kind)
	require.ErrorIs(t, f.Err, fs.ErrNotExist)
	require.True(t, f.Absent())
	require.Equal(t, sniff.Stream, sniff.Path(os.DevNull).Kind)
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.WriteFile(closed, []byte("x"), 0))
	if os.Getuid() != 0 {
		require.Contains(t, sniff.Path(closed).String(), "is not readable: permission denied; make it readable")
	}
}

func TestIdsOfAHub(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	t.Setenv("HF_HOME", home)
	t.Setenv("HF_HUB_CACHE", "")
	f := sniff.Path("org/model-1.5")
	require.Equal(t, sniff.Hub, f.Kind)
	require.ErrorIs(t, f.Err, fs.ErrNotExist)
	require.Contains(t, f.String(), "may be the id of a model on a hub")
	for _, path := range []string{"model", "a/b/c", "/a/b", "../b", "a/b.mil", "a/x.safetensors", "a /b"} {
		require.Equal(t, sniff.Missing, sniff.Path(path).Kind, path)
	}
	repository := filepath.Join(home, "hub", "models--org--model-1.5")
	tree(t, repository, "refs/")
	require.Contains(t, sniff.Path("org/model-1.5").String(), "not in the hub's cache")
	tree(t, repository, "snapshots/aa/config.json", "snapshots/bb/config.json", "snapshots/bb/model.safetensors")
	require.NoError(t, os.WriteFile(filepath.Join(repository, "refs", "main"), []byte("bb"), 0o600))
	want := "the hub's cache has a Hugging Face folder of that name; give " + filepath.Join(repository, "snapshots", "bb")
	require.Contains(t, sniff.Path("org/model-1.5").String(), want)
	require.Contains(t, sniff.Path(repository).String(), want, "the folder of the cache itself")
	require.NoError(t, os.Mkdir("org", 0o700))
	require.Equal(t, sniff.Missing, sniff.Path("org/model-1.5").Kind, "the folder exists, so it is a path")
}

// Every kind has words: what it is, and a step.
func FuzzStart(f *testing.F) {
	f.Add("a.mlmodel", []byte("\x08\x07\xb2\x1f\x83\x01"), int64(9))
	f.Add("a", []byte(pointer), int64(200))
	f.Add("a.zip", []byte("PK\x03\x04"), int64(4))
	f.Fuzz(func(t *testing.T, name string, start []byte, size int64) {
		found := sniff.Start(name, start, size)
		require.NotEmpty(t, found.What)
		require.NotEmpty(t, found.Next)
		require.NotContains(t, found.What+found.Next, "\n")
	})
}
