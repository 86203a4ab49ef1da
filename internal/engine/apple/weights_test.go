package apple_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// anything serves every path.
type anything struct{}

// ReadFile implements ane.Weights.
func (anything) ReadFile(string) ([]byte, error) { return make([]byte, 192), nil }

// TestWeightFolderThatIsAFile: a weight whose path uses another weight's file
// as a folder cannot be written.
func TestWeightFolderThatIsAFile(t *testing.T) {
	_, err := open(t).Compile(t.Context(), ane.Source{File: "w.mil", Weights: anything{}, Text: []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x) {
        tensor<fp16, [32]> a = const()[name = string("a"), val = tensor<fp16, [32]>(BLOBFILE(path = string("@model_path/weights"), offset = uint64(64)))];
        tensor<fp16, [32]> b = const()[name = string("b"), val = tensor<fp16, [32]>(BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(64)))];
        tensor<fp16, [1, 1, 1, 32]> z = add(x = x, y = a)[name = string("z")];
        tensor<fp16, [1, 1, 1, 32]> y = add(x = z, y = b)[name = string("y")];
    } -> (y);
}`)})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "which is a file")
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
}
