package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// A run that leaves anything open fails, whatever its tests said.
func TestMain(m *testing.M) { leaktest.Main(m) }

// newLayout is NewLayout for shapes that fit.
func newLayout(t testing.TB, name string, d mil.DType, shape ...int) ane.Layout {
	t.Helper()
	l, err := ane.NewLayout(name, d, shape...)
	require.NoError(t, err)
	return l
}

// open makes a Block that the test closes at its end.
func open(t testing.TB, size int, opts ...unimem.Option) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// onBlock lays a tensor on a Block of its own.
func onBlock(t testing.TB, l ane.Layout, opts ...unimem.Option) *ane.Tensor {
	t.Helper()
	x, err := ane.OnBlock(open(t, l.Bytes(), opts...), l)
	require.NoError(t, err)
	return x
}

// fp16On makes an fp16 tensor on a Block of its own.
func fp16On(t testing.TB, shape ...int) *ane.Tensor {
	return onBlock(t, newLayout(t, "x", mil.FP16, shape...))
}
