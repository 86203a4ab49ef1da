package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) { leaktest.Main(m) }

// newLayout is NewLayout for valid shapes.
func newLayout(t testing.TB, name string, d mil.DType, shape ...int) ane.Layout {
	t.Helper()
	l, err := ane.NewLayout(name, d, shape...)
	require.NoError(t, err)
	return l
}

// open opens a Block that the test closes at its end.
func open(t testing.TB, size int, opts ...unimem.Option) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// onBlock makes a tensor on a new Block.
func onBlock(t testing.TB, l ane.Layout, opts ...unimem.Option) *ane.Tensor {
	t.Helper()
	x, err := ane.OnBlock(open(t, l.Bytes(), opts...), l)
	require.NoError(t, err)
	return x
}

// fp16On makes an fp16 tensor on a new Block.
func fp16On(t testing.TB, shape ...int) *ane.Tensor {
	return onBlock(t, newLayout(t, "x", mil.FP16, shape...))
}
