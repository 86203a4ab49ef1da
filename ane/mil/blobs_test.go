package mil_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

func TestBlobsAreFoundInEveryPosition(t *testing.T) {
	p, err := mil.Parse("t.mil", []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 1, 4]> x) {
        tensor<fp16, [4]> a = const()[name = string("a"), val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/a.bin"), offset = uint64(64)))];
        tensor<fp16, [1, 1, 1, 4]> y = mul(x = x, y = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/b.bin"), offset = uint64(64))))[name = string("y")];
    } -> (y);
    func other<ios18>(tensor<fp16, [1, 1, 1, 4]> x) {
        tensor<fp16, [1, 2, 1, 4]> z = concat(values = (x, tensor<fp16, [1, 1, 1, 4]>(BLOBFILE(path = string("@model_path/c.bin"), offset = uint64(128)))), axis = int32(1), interleave = bool(false))[name = string("z")];
    } -> (z);
}`))
	require.NoError(t, err)
	var paths []string
	for _, b := range p.Blobs() {
		path, err := b.Path.Strings()
		require.NoError(t, err)
		paths = append(paths, path...)
	}
	require.Equal(t, []string{"@model_path/a.bin", "@model_path/b.bin", "@model_path/c.bin"}, paths)
	require.Empty(t, new(mil.Program).Blobs())
}

func TestWeightsHaveTheirTypes(t *testing.T) {
	p, err := mil.Parse("t.mil", []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
        tensor<fp16, [4]> a = const()[name = string("a"), val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/a.bin"), offset = uint64(64)))];
        tensor<fp16, [4]> y = mul(x = x, y = const()[val = tensor<fp32, [1]>(BLOBFILE(path = string("b"), offset = uint64(0)))]);
    } -> (y);
}`))
	require.NoError(t, err)
	var types []string
	for _, v := range p.Weights() {
		types = append(types, v.Type.String())
	}
	require.Equal(t, []string{"tensor<fp16, [4]>", "tensor<fp32, [1]>"}, types)
}
