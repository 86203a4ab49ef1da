package apple_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// started is the stand-in framework; a process can have only one.
var started struct {
	sync.Once
	f   *standin.Framework
	err error
}

// framework starts the stand-in, or skips the test if it cannot be built.
func framework(tb testing.TB) *standin.Framework {
	dir := bridgetest.Build(tb)
	started.Do(func() {
		started.f, started.err = standin.Start(standin.Options{Dir: dir})
	})
	require.NoError(tb, started.err)
	return started.f
}

// programFiles lists the programs' folders that the framework has while an engine
// is open.
func programFiles(tb testing.TB) []string {
	all, err := filepath.Glob(filepath.Join(os.Getenv("TEMP"), "*", "*"))
	require.NoError(tb, err)
	return all
}

// leftovers returns what the frameworks still hold. Their threads release a run
// shortly after they have reported its end.
func leftovers() []string { return await.Left(started.f.Leftovers) }

// allReturned waits until no call of earlier tests is abandoned: such a call releases its memory and its place after
// the test has ended.
func allReturned(t *testing.T) {
	t.Helper()
	await.Until(t, "no abandoned call of earlier tests", func() bool { return apple.AbandonedCalls() == 0 })
}

// open opens the engine and closes it at the end of the test.
func open(tb testing.TB, change ...func(*apple.Config)) *apple.Engine {
	f := framework(tb)
	c := f.Config()
	for _, ch := range change {
		ch(&c)
	}
	e, err := apple.Open(tb.Context(), c)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

// bridged makes a program of the bridge, without the engine, and closes it at the end of the test.
func bridged(t *testing.T, f *standin.Framework) (*objcbridge.Bridge, *objcbridge.Program) {
	b, err := objcbridge.Open(f.Config().Bridge)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	p, err := b.NewProgram(text(fresh()), nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return b, p
}

// rig is y = x + n over [1, 64, 1, 32], loaded and bound to its own Blocks.
type rig struct {
	tb      testing.TB
	device  *ane.Device
	model   *ane.Model
	request *ane.Request
	x, y    *ane.Tensor
}

// text returns a different program for each n.
func text(n int) []byte {
	return fmt.Appendf(nil, `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 32]> y = add(x = x, y = fp16(%d))[name = string("y")];
    } -> (y);
}`, n)
}

// newRig builds a rig. The program adds n.
func newRig(tb testing.TB, e *apple.Engine, n int, opts ...unimem.Option) *rig {
	return newSourceRig(tb, e, ane.Source{File: "add.mil", Text: text(n)}, opts...)
}

// newSourceRig builds a rig of another program with x and y.
func newSourceRig(tb testing.TB, e *apple.Engine, src ane.Source, opts ...unimem.Option) *rig {
	d, err := ane.Open(keptOpen{e}, "")
	require.NoError(tb, err)
	r := &rig{tb: tb, device: d}
	r.model, err = d.Compile(tb.Context(), src)
	require.NoError(tb, err)
	require.NoError(tb, r.model.Load(tb.Context()))
	r.x, r.y = r.tensor(r.model.Inputs()[0], opts), r.tensor(r.model.Outputs()[0], opts)
	r.request, err = r.model.Bind(map[string]*ane.Tensor{"x": r.x}, map[string]*ane.Tensor{"y": r.y})
	require.NoError(tb, err)
	tb.Cleanup(r.close)
	return r
}

func (r *rig) tensor(l ane.Layout, opts []unimem.Option) *ane.Tensor {
	b, err := unimem.Open(l.Bytes(), opts...)
	require.NoError(r.tb, err)
	r.tb.Cleanup(func() { require.NoError(r.tb, b.Close()) })
	t, err := ane.OnBlock(b, l)
	require.NoError(r.tb, err)
	return t
}

// close closes the rig before its Blocks.
func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	require.NoError(r.tb, r.request.Close())
	require.NoError(r.tb, r.model.Close(ctx))
	require.NoError(r.tb, r.device.Close())
}

// half rounds f to fp16.
func half(f float32) float32 { return fp16.FromFloat32(f).Float32() }

// run sets every element to v, evaluates, and checks y = v + n in fp16.
func (r *rig) run(ctx context.Context, v, n float32) error {
	in := make([]float32, r.x.Layout().Elements())
	for i := range in {
		in[i] = v
	}
	if _, err := r.x.WriteFloat32(in); err != nil {
		return err
	}
	if _, err := r.model.Evaluate(ctx, r.request); err != nil {
		return err
	}
	if _, err := r.y.ReadFloat32(in); err != nil {
		return err
	}
	want := half(v + half(n))
	for i, got := range in {
		if got != want {
			return fmt.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
	return nil
}

// keptOpen lets several Devices share an engine: its Close does nothing.
type keptOpen struct{ *apple.Engine }

func (keptOpen) Close() error { return nil }
