package ops_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// blobConst is a constant from entry 64 of w.bin.
const blobConst = `%s c%d = const()[val = %[1]s(BLOBFILE(path = string("w.bin"), offset = uint64(64)))];` + "\n"

// counted returns files and counts the reads.
type counted struct {
	files
	reads int
}

func (c *counted) ReadFile(path string) ([]byte, error) {
	c.reads++
	return c.files.ReadFile(path)
}

// TestWeightsAreReadOnce checks that a thousand constants of one entry share one copy,
// and that the caller can change its bytes without changing that copy.
func TestWeightsAreReadOnce(t *testing.T) {
	const n, size = 1000, 1 << 20
	var w blob.Writer
	_, err := w.Add(mil.FP16, make([]byte, size), 0)
	require.NoError(t, err)
	src := &counted{files: files{"w.bin": w.Bytes()}}
	var body strings.Builder
	for i := range n {
		fmt.Fprintf(&body, blobConst, fmt.Sprintf("tensor<fp16, [%d]>", size/2), i)
	}
	body.WriteString("tensor<fp16, [524288]> y = add(x = c0, y = c999);")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, list := analyze(t, around(body.String(), "y"), src)
	runtime.ReadMemStats(&after)
	require.Empty(t, list)
	require.Equal(t, 1, src.reads)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	src.files["w.bin"][128] = 7
	require.Zero(t, g.Nodes[0].In[0].Data[0], "the graph has a copy")
}

// TestWeightWarnings checks that warnings of the file reader become notes.
func TestWeightWarnings(t *testing.T) {
	data := weights(t)["w.bin"]
	data[20] = 9 // the header's reserved bytes
	g, list := analyze(t, around(fmt.Sprintf(blobConst, "tensor<fp16, [2]>", 0)+
		"tensor<fp16, [2]> y = add(x = c0, y = q);", "y"), files{"w.bin": data})
	require.Empty(t, list)
	require.Contains(t, strings.Join(g.Notes, "\n"), "header has more")
}

// TestWeightErrorsUnwrap checks that errors.Is and errors.As find the causes.
func TestWeightErrorsUnwrap(t *testing.T) {
	_, list := analyze(t, around(fmt.Sprintf(blobConst, "tensor<fp16, [2]>", 0), "c0"), files{})
	require.True(t, errors.Is(list, fs.ErrNotExist))
	_, list = analyze(t, around(fmt.Sprintf(blobConst, "tensor<fp32, [2]>", 0), "c0"), weights(t))
	require.True(t, errors.Is(list, blob.ErrType))
	_, list = analyze(t, around(fmt.Sprintf(blobConst, "tensor<fp16, [2]>", 0), "c0"), nil)
	require.Contains(t, list.Error(), "no weights were given")
	for _, e := range list {
		require.Equal(t, 6, e.Pos.Line)
	}
}

// anything has every file.
type anything struct{ data []byte }

func (a anything) ReadFile(string) ([]byte, error) { return a.data, nil }

// A path that leads out of the model's directory is a fault at its place, whatever the
// source of the weights has.
func TestClimbingPaths(t *testing.T) {
	source := anything{weights(t)["w.bin"]}
	compile := func(path string) mil.ErrorList {
		_, list := analyze(t, around("tensor<fp16, [2]> ww = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string(\""+
			path+
			"\"), offset = uint64(64)))]; fp16 y = relu(x = s);", "y"), source)
		return list
	}
	for _, path := range []string{"@model_path/../w.bin", "@model_path/a/../../w.bin", "../w.bin", "@model_path/..",
		`@model_path\\..\\w.bin`, "@model_path//../w.bin", "/../w.bin"} {
		list := compile(path)
		require.Len(t, list, 1, path)
		require.Equal(t, mil.Pos{Line: 6, Col: 72}, list[0].Pos)
		require.Contains(t, list.Error(), "are not inside the model's directory; name a file below @model_path")
	}
	for _, path := range []string{"@model_path/w.bin", "@model_path/a/../w.bin", "w..bin", "..w.bin",
		"@model_path/a..b/..c", "/w.bin", ""} {
		require.Empty(t, compile(path), path)
	}
}
