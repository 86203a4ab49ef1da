package blas_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/unimem/blas"
)

// The CPU's library and the engine are consumers of one Tape: the library writes a product, the engine reads it where
// it lies and writes its square to another span, and the library multiplies that again. No call copies.
func TestEngineReadsTheProduct(t *testing.T) {
	ctx, l := t.Context(), library(t)
	const n = 32
	s := tape(t, 1<<20)
	r := rand.New(rand.NewPCG(7, 8))
	var spans [5][]byte
	var m [5]blas.Matrix // a, b, c = a b, d = c * c element by element, e = d b
	for i := range m {
		var err error
		spans[i], err = s.Take(4*n*n, 64)
		require.NoError(t, err)
		m[i], err = blas.On(spans[i], n, n)
		require.NoError(t, err)
	}
	for i := range m[0].Data {
		m[0].Data[i], m[1].Data[i] = float32(r.IntN(9)-4), float32(r.IntN(9)-4) // exact in float32
	}
	p := build.New()
	f := p.Func("main")
	x := f.Input("x", build.FP32, n, n)
	f.Output("y", f.Mul(x, x))
	program, err := p.Program()
	require.NoError(t, err)
	device, err := engine.Open(ctx, engine.Soft, engine.AllowOffsets())
	require.NoError(t, err)
	defer func() { require.NoError(t, device.Close()) }()
	model, err := device.Compile(ctx, ane.Source{Program: program})
	require.NoError(t, err)
	defer func() { require.NoError(t, model.Close(context.Background())) }()
	require.NoError(t, model.Load(ctx))
	on := func(span []byte, layout ane.Layout) *ane.Tensor {
		x, err := ane.OnSpan(s, span, layout)
		require.NoError(t, err)
		return x
	}
	request, err := model.Bind(map[string]*ane.Tensor{"x": on(spans[2], model.Inputs()[0])},
		map[string]*ane.Tensor{"y": on(spans[3], model.Outputs()[0])})
	require.NoError(t, err)
	defer func() { require.NoError(t, request.Close()) }()

	require.NoError(t, l.Product(m[2], m[0], m[1]))
	_, err = request.Evaluate(ctx)
	require.NoError(t, err)
	require.NoError(t, l.Product(m[4], m[3], m[1]))
	for i := range n {
		for j := range n {
			want := 0.0
			for k := range n {
				c, _ := reference(m[0], m[1], i, k)
				want += c * c * float64(m[1].At(k, j))
			}
			require.EqualValues(t, want, m[4].At(i, j), "element (%d, %d)", i, j)
		}
	}
}
