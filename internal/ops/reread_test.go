package ops_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/ops"
)

// blobAt writes a BLOBFILE of type d for the entry at 64.
func blobAt(d, path string) string {
	return d + `(BLOBFILE(path = string("` + path + `"), offset = uint64(64)))`
}

// holding returns a weight file of one entry.
func holding(t *testing.T, d mil.DType, data ...byte) []byte {
	var w blob.Writer
	_, err := w.Add(d, data, 0)
	require.NoError(t, err)
	return w.Bytes()
}

// broken fails with an error that is not fs.ErrNotExist.
type broken struct{}

func (broken) ReadFile(string) ([]byte, error) { return nil, errors.New("the disk is on fire") }

// TestReread reads every constant again from another file, reports faults at the
// position of its BLOBFILE, and marks those whose elements are settings.
func TestReread(t *testing.T) {
	body := "tensor<fp16, [2]> c = const()[val = " + blobAt("tensor<fp16, [2]>", "w.bin") + "];\n" +
		"tensor<int32, [1]> axes = const()[val = " + blobAt("tensor<int32, [1]>", "axes.bin") + "];\n" +
		"tensor<fp16, [2]> a = add(x = q, y = c);\n" +
		"tensor<fp16, [1, 2]> y = expand_dims(x = a, axes = axes);"
	given := files{"w.bin": weights(t)["w.bin"], "axes.bin": holding(t, mil.Int32, 0, 0, 0, 0)}
	text := strings.TrimSuffix(around(body, "y"), "}\n") + "func other<ios18>(tensor<fp16, [2]> z) {\n" +
		"tensor<fp16, [2]> y = mul(x = z, y = " + blobAt("tensor<fp16, [2]>", "w.bin") + ");\n} -> (y);\n}\n"
	g, list := analyze(t, text, given)
	require.Empty(t, list)
	require.Len(t, g.Weights, 3)
	c, axes, other := g.Weights[0], g.Weights[1], g.Weights[2]
	require.Equal(t, "c", c.Name)
	require.Equal(t, "w.bin", c.Path)
	require.EqualValues(t, 64, c.Offset)
	require.Same(t, g.Nodes[0].In[1], c.Value)
	require.Nil(t, c.Taken)
	require.Equal(t, "axes", axes.Name)
	require.Equal(t, []byte{0, 0, 0, 0}, axes.Taken)
	require.Nil(t, other.Value)
	require.Nil(t, other.Value)

	for name, w := range map[string]blob.Source{"none": nil, "no file": files{}} {
		entries, faults := ops.Reread("e.mil", g.Weights, w)
		require.Empty(t, faults, name)
		require.Equal(t, make([]ops.Entry, 3), entries, name)
	}
	src := &counted{files: files{"w.bin": holding(t, mil.FP16, 1, 2, 3, 4)}}
	src.files["w.bin"][20] = 9 // the header's reserved bytes
	entries, faults := ops.Reread("e.mil", g.Weights, src)
	require.Empty(t, faults)
	require.Equal(t, 2, src.reads, "each file once")
	require.Equal(t, []byte{1, 2, 3, 4}, entries[0].Data)
	require.Nil(t, entries[1].Data)
	require.Equal(t, []byte{1, 2, 3, 4}, entries[2].Data)
	require.Len(t, entries[0].Notes, 1)
	require.Contains(t, entries[0].Notes[0], "e.mil:"+c.Pos.String()+": weights w.bin: byte 8")
	require.Empty(t, entries[2].Notes, "reported once")

	for name, x := range map[string]struct {
		w    blob.Source
		want error
		n    int
		text string
	}{
		"no weight file": {files{"w.bin": []byte("x")}, blob.ErrFormat, 1, // of the file, not of each constant
			"e.mil:" + c.Pos.String() + ": weights w.bin: not a weight file: it is text (2 constants)"},
		"another type": {files{"w.bin": holding(t, mil.FP32, 1, 2, 3, 4)}, blob.ErrType, 2, "w.bin: byte 68"},
		"another size": {files{"w.bin": holding(t, mil.FP16, 1, 2)}, blob.ErrSize, 2, "w.bin: byte 72"},
		"cut off":      {files{"w.bin": given["w.bin"][:130]}, nil, 2, "w.bin"},
		"unreadable":   {broken{}, nil, 2, "the disk is on fire (2 constants)"},
	} {
		_, list := ops.Reread("e.mil", g.Weights, x.w)
		err := list.Err()
		require.Len(t, list, x.n, name)
		require.ErrorContains(t, err, x.text, name)
		require.NotErrorIs(t, err, fs.ErrNotExist)
		if x.want != nil {
			require.ErrorIs(t, err, x.want, name)
		}
	}
}
