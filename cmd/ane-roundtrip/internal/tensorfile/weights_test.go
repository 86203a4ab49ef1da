package tensorfile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft"
)

// A message about a weight file that ends too early has its size once.
func TestASizeIsSaidOnce(t *testing.T) {
	var file blob.Writer
	_, err := file.Add(mil.FP16, make([]byte, 16), 0)
	require.NoError(t, err)
	text := []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [8]> x) {
        tensor<fp16, [8]> w = const()[
            val = tensor<fp16, [8]>(BLOBFILE(path = string("@model_path/w/a.bin"), offset = uint64(64)))];
        tensor<fp16, [8]> y = add(x = x, y = w)[name = string("y")];
    } -> (y);
}
`)
	p, err := mil.ParseTree("w.mil", text)
	require.NoError(t, err)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer d.Close()
	dir := t.TempDir()
	at := filepath.Join(dir, "w", "a.bin")
	require.NoError(t, os.Mkdir(filepath.Dir(at), 0o700))
	cut := func(n int) []byte { return file.Bytes()[:n] }
	far := cut(144)
	binary.LittleEndian.PutUint64(far[64+16:], 1000)
	const hold = ", expected to hold tensor<fp16, [8]>, 16 bytes, at 64"
	for what, content := range map[string][]byte{
		"not a weight file: it is empty" + hold:                                        {},
		"byte 64: no room for an entry at offset 64 in a file of 100 bytes" + hold:     cut(100),
		"a payload of 16 bytes at 1000 does not fit in the file, which has 144" + hold: far,
		"no entry starts at offset 64: 0x00000000 where 0xdeadbeef is expected, in a file of 160 bytes" + hold: append(
			cut(64), make([]byte, 96)...),
	} {
		require.NoError(t, os.WriteFile(at, content, 0o600))
		w := NewWeights(p, dir, Fill{})
		_, err := d.Compile(t.Context(), ane.Source{File: "w.mil", Text: text, Weights: w})
		require.ErrorIs(t, err, ane.ErrCompile)
		w.Explain(err)
		require.ErrorContains(t, err, what)
		require.ErrorContains(t, err, "put the real file there, or name the folder that holds w/a.bin with --model-path")
	}
}
