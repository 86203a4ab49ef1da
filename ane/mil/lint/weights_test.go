package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
)

// Only macOS 27 is known to refuse several weight files.
func TestWeightFilesBySystem(t *testing.T) {
	text := cases()["weight-files"].breaks
	for os, want := range map[chip.OS]int{0: 1, 15: 0, 26: 0, 27: 1} {
		o := lint.Options{OS: os, Only: []string{"weight-files"}}
		require.Len(t, lint.Text("main.mil", []byte(text), o), want, os)
	}
}

// lint says of weight files what run refuses: once for a file, and for each entry of another type or size. A file that
// is not there is a note.
func TestWeightFilesAreCheckedAsRunDoes(t *testing.T) {
	text := fn("tensor<fp16, [4]> x", `tensor<fp16, [4]> a = const()[val = tensor<fp16, [4]>(BLOBFILE(path = `+
		`string("@model_path/w.bin"), offset = uint64(64)))];
        tensor<fp16, [4]> b = const()[val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/w.bin"), `+
		`offset = uint64(192)))];
        tensor<fp16, [4]> c = add(x = x, y = a)[name = string("c")];
        tensor<fp16, [4]> y = add(x = c, y = b)[name = string("y")];`, "y")
	entries := func(d mil.DType, n int) []byte {
		var w blob.Writer
		for range 2 {
			_, err := w.Add(d, make([]byte, n), 0)
			require.NoError(t, err)
		}
		return w.Bytes()
	}
	unmarked := entries(mil.FP16, 8)
	unmarked[64] ^= 1
	unmarked[192] ^= 1
	for want, data := range map[string][]byte{
		"offset 64: 0xdeadbeee where 0xdeadbeef is expected (2 constants of the file name no entry)": unmarked,
		"": entries(mil.FP16, 8),
		"no weight file @model_path/w.bin; constants in it: 2": nil,
		"weights @model_path/w.bin: not a weight file: it is a Git LFS pointer to a file of 9 bytes (2 constants)": []byte(
			"version https://git-lfs.github.com/spec/v1\nsize 9\n"),
		"the entry holds fp32, the program declares tensor<fp16, [4]>": entries(mil.FP32, 8),
		"the payload has 6 bytes, tensor<fp16, [4]> needs 8":           entries(mil.FP16, 6),
	} {
		files := blob.Files{}
		if data != nil {
			files["@model_path/w.bin"] = data
		}
		found := lint.Text("w.mil", []byte(text), lint.Options{Weights: files, Only: []string{"weight-file"}})
		if want == "" {
			require.Empty(t, found)
			continue
		}
		require.NotEmpty(t, found, want)
		if strings.Contains(want, "2 constants") {
			require.Len(t, found, 1, want)
		}
		require.Contains(t, found[0].Message, want)
		require.Equal(t, data == nil, found[0].Severity == lint.Note)
	}
}
