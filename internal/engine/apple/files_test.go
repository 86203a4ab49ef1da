package apple_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/apple"
)

// adder is a program that adds its weights to x: two entries of each file, of which the k-th of all is 2^k. n makes
// its text different.
func adder(t *testing.T, n int, files ...string) (src ane.Source, sum float32) {
	t.Helper()
	weights, body := blob.Files{}, &strings.Builder{}
	last := "x"
	for i, file := range files {
		var w blob.Writer
		for k := 2 * i; k < 2*i+2; k++ {
			value := binary.LittleEndian.AppendUint16(nil, uint16(fp16.FromFloat32(float32(int(1)<<k))))
			offset, err := w.Add(mil.FP16, bytes.Repeat(value, 32), 0)
			require.NoError(t, err)
			sum += float32(int(1) << k)
			fmt.Fprintf(body, `tensor<fp16, [32]> w%[1]d = const()[name = string("w%[1]d"), val = tensor<fp16, [32]>`+
				`(BLOBFILE(path = string("%[2]s"), offset = uint64(%[3]d)))];
tensor<fp16, [1, 1, 1, 32]> s%[1]d = add(x = %[4]s, y = w%[1]d)[name = string("s%[1]d")];
`, k, file, offset, last)
			last = fmt.Sprint("s", k)
		}
		weights[file] = w.Bytes()
	}
	return ane.Source{File: "weighted.mil", Weights: weights, Text: fmt.Appendf(nil, `program(1.3)
{
func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x) {
%stensor<fp16, [1, 1, 1, 32]> y = add(x = %s, y = fp16(0))[name = string("y_%d")];
} -> (y);
}`, body, last, n)}, sum
}

// filesBelow lists the files below the folder of programs, relative to the program's.
func filesBelow(t *testing.T) (names []string) {
	t.Helper()
	for _, dir := range programFiles(t) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				name, _ := strings.CutPrefix(path, dir+"/")
				names = append(names, name)
			}
			return err
		}))
	}
	return names
}

const oneFile = "@model_path/weights/weight.bin"

// TestLoadedProgramsHaveNoFiles: a loaded program needs no files, and its weights would be on the disk twice.
func TestLoadedProgramsHaveNoFiles(t *testing.T) {
	f := framework(t)
	src, sum := adder(t, fresh(), oneFile)
	r := newSourceRig(t, open(t), src)
	require.Empty(t, programFiles(t))
	require.NoError(t, r.run(t.Context(), 1, sum))
	require.NoError(t, r.model.Unload(t.Context()))
	require.NoError(t, r.model.Load(t.Context()))
	require.NoError(t, r.run(t.Context(), 2, sum))

	before := f.Counts().Compiles
	f.PurgeAll()
	require.NoError(t, r.run(t.Context(), 3, sum), "a loaded program does not need the cache either")
	require.NoError(t, r.model.Unload(t.Context()))
	require.NoError(t, r.model.Load(t.Context()), "neither cache nor files: made again from the source")
	require.Equal(t, before+1, f.Counts().Compiles)
	require.NoError(t, r.run(t.Context(), 4, sum))
	require.Empty(t, programFiles(t))
}

// TestKeptFiles: Options.KeepFiles leaves the files until the program is unloaded. The framework's copy of the only
// weights is called data.
func TestKeptFiles(t *testing.T) {
	framework(t)
	keep := func(c *apple.Config) { c.Bridge.KeepFiles = true }
	src, sum := adder(t, fresh(), oneFile)
	r := newSourceRig(t, open(t, keep), src)
	require.ElementsMatch(t, []string{"data", "model.mil", "net.plist", "weights/weight.bin"}, filesBelow(t))
	require.NoError(t, r.run(t.Context(), 1, sum))
	require.NoError(t, r.model.Unload(t.Context()))
	require.Empty(t, programFiles(t))
}

// TestNamesOfCopies: the framework's copies of several weights have different names, and no copy lies where a folder of
// the program's own files is.
func TestNamesOfCopies(t *testing.T) {
	framework(t)
	keep := func(c *apple.Config) { c.Bridge.KeepFiles = true }
	for _, c := range []struct{ files, copies []string }{
		{[]string{"@model_path/weights/a.bin", "@model_path/weights/b.bin"},
			[]string{"weights%2Fa.bin", "weights%2Fb.bin", "weights/a.bin", "weights/b.bin"}},
		{[]string{"@model_path/data"}, []string{"data"}},
		{[]string{"@model_path/Data/w.bin"}, []string{"Data%2Fw.bin", "Data/w.bin"}},
	} {
		src, sum := adder(t, fresh(), c.files...)
		r := newSourceRig(t, open(t, keep), src)
		require.ElementsMatch(t, append(c.copies, "model.mil", "net.plist"), filesBelow(t))
		require.NoError(t, r.run(t.Context(), 1, sum))
		require.NoError(t, r.model.Unload(t.Context()))
	}
}
