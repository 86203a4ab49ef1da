package dlpack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/unimem"
)

const doubling = `program(1.0) {
	func main<ios16>(tensor<fp16, [1, 4, 2, 32]> x) {
		tensor<fp16, [1, 4, 2, 32]> y = add(x = x, y = x);
	} -> (y);
}`

// The software engine evaluates imported tensors where they are, and not into read-only ones.
func TestImportedTensorsAreBound(t *testing.T) {
	d, err := engine.Open(t.Context(), "soft")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	model, err := d.Compile(t.Context(), ane.Source{Text: []byte(doubling)})
	require.NoError(t, err)
	require.NoError(t, model.Load(t.Context()))
	defer func() { require.NoError(t, model.Close(t.Context())) }()
	x, y := tensor(t, 1, 4, 2, 32), tensor(t, 1, 4, 2, 32)
	in, out, fixed := again(t, x, false), again(t, y, true), again(t, y, false, dlpack.ReadOnly())
	_, err = model.Bind(map[string]*ane.Tensor{"x": in}, map[string]*ane.Tensor{"y": fixed})
	require.ErrorIs(t, err, ane.ErrReadOnly)
	_, err = model.Bind(map[string]*ane.Tensor{"x": in}, map[string]*ane.Tensor{"y": x})
	require.ErrorIs(t, err, ane.ErrAlias, "the same memory as the input")

	r, err := model.Bind(map[string]*ane.Tensor{"x": in}, map[string]*ane.Tensor{"y": out})
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, in.Block().Close(), unimem.ErrInUse, "the request holds it")
	v, err := y.At(0, 3, 1, 31)
	require.NoError(t, err)
	require.Equal(t, 2*(1+255/1024.0), float64(v), "the exporter sees the result")
	require.NoError(t, r.Close())
	for _, z := range []*ane.Tensor{in, out, fixed} {
		require.NoError(t, z.Block().Close())
	}
}
