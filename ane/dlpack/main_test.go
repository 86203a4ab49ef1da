package dlpack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	leaktest.Main(m, func() []string {
		if n := dlpack.Live().Exported; n != 0 {
			return []string{fmt.Sprintf("%d exports without a call of their deleter", n)}
		}
		return nil
	})
}

// open opens a Block that the test closes at its end.
func open(t testing.TB, size int, opts ...unimem.Option) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// tensor makes a tensor on a new Block with element i = 1+i/1024, of the bits 0x3c00+i.
func tensor(t testing.TB, shape ...int) *ane.Tensor {
	t.Helper()
	l, err := ane.NewLayout("x", mil.FP16, shape...)
	require.NoError(t, err)
	x, err := ane.OnBlock(open(t, l.Bytes()), l)
	require.NoError(t, err)
	count(t, x)
	return x
}

func count(t testing.TB, x *ane.Tensor) {
	t.Helper()
	all := make([]float32, x.Layout().Elements())
	for i := range all {
		all[i] = 1 + float32(i)/1024
	}
	_, err := x.WriteFloat32(all)
	require.NoError(t, err)
}

// requireCount checks what count wrote.
func requireCount(t testing.TB, x *ane.Tensor) {
	t.Helper()
	all, err := x.Float32s()
	require.NoError(t, err)
	for i, v := range all {
		require.Equal(t, 1+float32(i)/1024, v, "element %d", i)
	}
}
