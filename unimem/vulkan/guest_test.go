package vulkan

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/wasm"
)

//go:embed testdata/product.wasm
var guestCode []byte

// guest instantiates testdata/product.wat with a host function that multiplies by f, and runs it. It returns the
// number of elements of C that the guest finds wrong.
func guest(t *testing.T, f func(ctx context.Context, m *wasm.Memory, a, b, c, n uint32) error) (wrong uint32) {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer func() { require.NoError(t, r.Close(ctx)) }()
	var memory *wasm.Memory
	_, err := r.NewHostModuleBuilder("gpu").NewFunctionBuilder().WithFunc(
		func(ctx context.Context, _ api.Module, a, b, c, n uint32) {
			if err := f(ctx, memory, a, b, c, n); err != nil {
				t.Error(err)
			}
		}).Export("product").Instantiate(ctx)
	require.NoError(t, err)
	compiled, err := r.CompileModule(ctx, guestCode)
	require.NoError(t, err)
	module, memory, err := wasm.Instantiate(ctx, r, compiled, wazero.NewModuleConfig(), 4<<20)
	require.NoError(t, err)
	answer, err := module.ExportedFunction("run").Call(ctx)
	require.NoError(t, err)
	require.NoError(t, module.Close(ctx))
	require.NoError(t, memory.Close())
	return uint32(answer[0])
}

// The chain of a WebAssembly guest and a GPU: the guest fills A and B, the GPU multiplies in the guest's memory, and
// the guest reads C through the same pointer: 0 errors in 16,384 elements.
func TestGuest(t *testing.T) {
	d := device(t)
	k := kernel(t, d, Product())
	calls := 0
	wrong := guest(t, func(ctx context.Context, m *wasm.Memory, a, b, c, n uint32) error {
		calls++
		buf, err := d.Import(ctx, m.Block())
		if err != nil {
			return err
		}
		require.Equal(t, m.Address(), m.Block().Address())
		requireSame(t, m.Block(), buf)
		part := func(p uint32) Range { return buf.Range(int(p), int(4*n*n)) }
		run(t, d, Dispatch{k, []Range{part(a), part(b), part(c)}, push(int(n)), Product().Groups(int(n), int(n), 1)})
		return buf.Close()
	})
	require.Equal(t, 1, calls)
	require.Zero(t, wrong, "errors in 16384 elements")
}

// The guest finds every error: without the GPU, and when the GPU works on a copy.
func TestGuestFindsErrors(t *testing.T) {
	wrong := guest(t, func(context.Context, *wasm.Memory, uint32, uint32, uint32, uint32) error { return nil })
	require.EqualValues(t, 128*128, wrong)
	d := device(t)
	k := kernel(t, d, Product())
	wrong = guest(t, func(ctx context.Context, m *wasm.Memory, a, b, c, n uint32) error {
		staged, err := unimem.Open(m.Block().Size())
		if err != nil {
			return err
		}
		copy(staged.Bytes(), m.Block().Bytes())
		buf, err := d.Import(ctx, staged)
		if err != nil {
			return err
		}
		part := func(p uint32) Range { return buf.Range(int(p), int(4*n*n)) }
		run(t, d, Dispatch{k, []Range{part(a), part(b), part(c)}, push(int(n)), Product().Groups(int(n), int(n), 1)})
		require.NoError(t, buf.Close())
		return staged.Close()
	})
	require.EqualValues(t, 128*128, wrong)
}

// The guest is what its text assembles to.
func TestGuestIsItsText(t *testing.T) {
	leaktest.SkipEmulated(t)
	if _, err := exec.LookPath("wat2wasm"); err != nil {
		t.Skip("no wat2wasm here: install the package wabt")
	}
	if _, err := os.Stat("testdata/product.wat"); err != nil {
		t.Skipf("this binary runs elsewhere: %v", err)
	}
	made := filepath.Join(t.TempDir(), "product.wasm")
	out, err := exec.Command("wat2wasm", "-o", made, "testdata/product.wat").CombinedOutput()
	require.NoError(t, err, "%s", out)
	want, err := os.ReadFile(made)
	require.NoError(t, err)
	require.Equal(t, want, guestCode, "assemble it again: wat2wasm -o testdata/product.wasm testdata/product.wat")
}
