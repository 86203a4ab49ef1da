package hal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

func prepare(t testing.TB, d *hal.Device, text string) *hal.Executable {
	t.Helper()
	e, err := d.Prepare(context.Background(), ane.Source{Text: []byte(text)})
	require.NoError(t, err)
	return e
}

// scaleText is a program with a constant, so that each factor is another program.
func scaleText(factor int) string {
	return fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x) {
        tensor<fp16, [1, 1, 1, 32]> y = mul(x = x, y = fp16(%d))[name = string("y")];
    } -> (y);
}`, factor)
}

// halves are the bits of v as one row of 32.
func halves(v float32) []byte {
	b := fp16.FromFloat32(v)
	return []byte(strings.Repeat(string([]byte{byte(b), byte(b >> 8)}), 32))
}

func TestDispatchInPlace(t *testing.T) {
	d := newDevice(t)
	add := prepare(t, d, addText)
	require.Len(t, add.Inputs(), 2)
	require.Len(t, add.Outputs(), 1)
	require.Equal(t, "soft", add.Receipt().Engine)
	b := newBuffer(t, d, 1024)
	x, y, z := b.Range(64, 64), b.Range(256, 64), b.Range(512, 512)
	in, out := map[string]hal.Range{"x": x, "y": y}, map[string]hal.Range{"z": z}
	c := record(t, d, hal.Reusable, func(c *hal.CommandBuffer) {
		c.Update(x, halves(1))
		c.Update(y, halves(2))
		c.Dispatch(add, in, out)
		in["x"] = b.Range(512, 64)
		out["z"] = b.Range(128, 64)
		c.Dispatch(add, in, out) // reads what the first one writes
		clear(in)
		clear(out)
	})
	require.EqualValues(t, 2, d.Stats().Barriers)
	for range 3 {
		require.NoError(t, run(t, d, c))
		require.Equal(t, halves(3), b.Bytes()[512:576])
		require.Equal(t, halves(5), b.Bytes()[128:192])
		require.Equal(t, make([]byte, 1024-576), b.Bytes()[576:], "nothing after the layout")
	}
}

func TestRefusedDispatches(t *testing.T) {
	for _, offsets := range []bool{true, false} {
		d := newDevice(t)
		if !offsets {
			e, err := engine.Open(context.Background(), engine.Soft)
			require.NoError(t, err)
			d, err = hal.NewDevice(e)
			require.NoError(t, err)
			defer func() {
				require.NoError(t, d.Close(context.Background()))
				require.NoError(t, e.Close())
			}()
		}
		add, b := prepare(t, d, addText), newBuffer(t, d, 1024)
		u, v, w := newBuffer(t, d, 64), newBuffer(t, d, 64), newBuffer(t, d, 64)
		other := newDevice(t)
		foreign := newBuffer(t, other, 64)
		type ranges = map[string]hal.Range
		good := func(b *hal.Buffer) hal.Range { return b.Range(0, 64) }
		for name, c := range map[string]struct {
			in, out ranges
			want    []error
		}{
			"name":    {ranges{"x": good(u), "y": good(v), "q": good(v)}, ranges{"z": good(w)}, []error{ane.ErrName}},
			"unbound": {ranges{"x": good(u)}, nil, []error{ane.ErrUnbound}},
			"short":   {ranges{"x": good(u), "y": v.Range(0, 63)}, ranges{"z": good(w)}, []error{ane.ErrShort}},
			"empty":   {ranges{"x": good(u), "y": v.Range(0, 0)}, ranges{"z": good(w)}, []error{ane.ErrShort}},
			"range":   {ranges{"x": good(u), "y": v.Range(0, 65)}, ranges{"z": good(w)}, []error{hal.ErrOutOfRange}},
			"alias":   {ranges{"x": good(u), "y": good(v)}, ranges{"z": good(v)}, []error{ane.ErrAlias}},
			"foreign": {ranges{"x": good(foreign), "y": good(v)}, ranges{"z": good(v)}, []error{ane.ErrForeign}},
			"two": {ranges{"x": u.Range(0, 1), "y": good(v)}, ranges{"q": good(v)},
				[]error{ane.ErrShort, ane.ErrName, ane.ErrUnbound}},
			"offset": {ranges{"x": b.Range(3, 64), "y": good(v)}, ranges{"z": good(w)},
				[]error{map[bool]error{true: ane.ErrAligned, false: ane.ErrOffset}[offsets]}},
			"inputs may alias": {ranges{"x": good(u), "y": good(u)}, ranges{"z": good(w)}, nil},
		} {
			cb, err := d.NewCommandBuffer(hal.OneShot)
			require.NoError(t, err)
			cb.Dispatch(add, c.in, c.out)
			err = cb.End()
			if c.want == nil {
				require.NoError(t, err, name)
			}
			for _, w := range c.want {
				require.ErrorIs(t, err, w, name)
			}
		}
		cb, err := other.NewCommandBuffer(hal.OneShot)
		require.NoError(t, err)
		cb.Dispatch(add, nil, nil)
		require.ErrorIs(t, cb.End(), ane.ErrForeign)
	}
}

// A Reusable buffer may be pending and run many times at once.
func TestReuse(t *testing.T) {
	d := newDevice(t)
	scale := prepare(t, d, scaleText(2))
	x, y := newBuffer(t, d, 64), newBuffer(t, d, 64)
	copy(x.Bytes(), halves(3))
	c := record(t, d, hal.Reusable, func(c *hal.CommandBuffer) {
		c.Dispatch(scale, map[string]hal.Range{"x": x.Range(0, 64)}, map[string]hal.Range{"y": y.Range(0, 64)})
	})
	go1 := hal.NewSemaphore(0)
	var points []hal.Point
	for range 20 {
		s := hal.NewSemaphore(0)
		require.NoError(t, d.Queue().Execute(context.Background(), []hal.Point{{go1, 1}}, []hal.Point{{s, 1}}, c, c))
		points = append(points, hal.Point{Semaphore: s, Value: 1})
	}
	require.ErrorIs(t, scale.Close(context.Background()), hal.ErrInUse)
	require.NoError(t, go1.Signal(1))
	require.NoError(t, hal.WaitAll(context.Background(), points...))
	require.Equal(t, halves(6), y.Bytes())
	require.NoError(t, scale.Close(context.Background()))
	require.ErrorIs(t, run(t, d, c), hal.ErrClosed)
	cb, err := d.NewCommandBuffer(hal.OneShot)
	require.NoError(t, err)
	cb.Dispatch(scale, nil, nil)
	require.ErrorIs(t, cb.End(), hal.ErrClosed)
}

// Requests that command buffers keep on memory do not keep it open.
func TestCloseOfBoundMemory(t *testing.T) {
	d := newDevice(t)
	scale := prepare(t, d, scaleText(2))
	block, err := unimem.Open(64)
	require.NoError(t, err)
	x, err := d.Import(block)
	require.NoError(t, err)
	ctx := context.Background()
	s := hal.NewSemaphore(0)
	y, err := d.Queue().Alloca(ctx, nil, []hal.Point{{s, 1}}, 64)
	require.NoError(t, err)
	c := record(t, d, hal.Reusable, func(c *hal.CommandBuffer) {
		c.Dispatch(scale, map[string]hal.Range{"x": x.Range(0, 64)}, map[string]hal.Range{"y": y.Range(0, 64)})
	})
	copy(x.Bytes(), halves(3))
	require.NoError(t, wait(t, s, 1))
	require.NoError(t, run(t, d, c))
	require.Equal(t, halves(6), y.Bytes())
	require.NoError(t, x.Close())
	require.NoError(t, block.Close(), "Close of the Buffer has released it")
	live := unimem.Live().Blocks
	require.NoError(t, d.Queue().Dealloca(ctx, nil, []hal.Point{{s, 2}}, y))
	require.NoError(t, wait(t, s, 2))
	require.Equal(t, live-1, unimem.Live().Blocks)
	require.ErrorIs(t, run(t, d, c), hal.ErrClosed)
	require.NoError(t, c.Close())
}

func TestPrepareCompilesOnce(t *testing.T) {
	d := newDevice(t)
	ctx := context.Background()
	var all sync.WaitGroup
	executables := make([]*hal.Executable, 20)
	for i := range executables {
		all.Go(func() {
			e, err := d.Prepare(ctx, ane.Source{Text: []byte(addText), File: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
			}
			executables[i] = e
		})
	}
	all.Wait()
	require.EqualValues(t, 1, d.Stats().Compiles)
	require.EqualValues(t, 19, d.Stats().CacheHits)
	for _, e := range executables[1:] {
		require.NoError(t, e.Close(ctx))
		require.NoError(t, e.Close(ctx))
	}
	b := newBuffer(t, d, 1024)
	require.NoError(t, run(t, d, record(t, d, hal.OneShot, func(c *hal.CommandBuffer) {
		c.Dispatch(executables[0], map[string]hal.Range{"x": b.Range(0, 64), "y": b.Range(0, 64)},
			map[string]hal.Range{"z": b.Range(64, 64)})
	})), "other Executables of the program stay")
	_, err := d.Prepare(ctx, ane.Source{Text: []byte("program")})
	require.ErrorIs(t, err, ane.ErrCompile)
	_, err = d.Prepare(ctx, ane.Source{})
	require.ErrorIs(t, err, ane.ErrCompile)
	_, err = d.Prepare(ended(), ane.Source{Text: []byte(addText)})
	require.ErrorIs(t, err, context.Canceled)
	for _, function := range []string{"", "main"} { // the same one
		e, err := d.Prepare(ctx, ane.Source{Text: []byte(addText), Function: function})
		require.NoError(t, err)
		require.True(t, e.Receipt().Cached)
	}
}

func TestCacheIsBounded(t *testing.T) {
	ctx := context.Background()
	for _, limit := range []int{0, 2} {
		d := newDevice(t, hal.CacheLimit(limit))
		keep := prepare(t, d, scaleText(100))
		for range 2 {
			for i := range 4 {
				require.NoError(t, prepare(t, d, scaleText(i)).Close(ctx))
			}
		}
		require.EqualValues(t, 9, d.Stats().Compiles, "none of 4 stays for the second round")
		require.NoError(t, prepare(t, d, scaleText(3)).Close(ctx))
		hits := int64(0)
		if limit == 2 {
			hits = 1
		}
		require.Equal(t, hits, d.Stats().CacheHits)
		require.NoError(t, keep.Close(ctx))
	}
}

func TestCacheDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	ctx := context.Background()
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		return all
	}
	d := newDevice(t, hal.CacheDir(dir), hal.CacheLimit(2))
	for i := range 4 {
		prepare(t, d, scaleText(i))
	}
	require.Len(t, files(), 2)
	require.NoError(t, d.Close(ctx))

	d = newDevice(t, hal.CacheDir(dir), hal.CacheLimit(2))
	await.Until(t, "both are compiled in the background", func() bool { return d.Stats().Compiles == 2 })
	e := prepare(t, d, scaleText(3))
	require.EqualValues(t, 1, d.Stats().CacheHits)
	x, y := newBuffer(t, d, 64), newBuffer(t, d, 64)
	copy(x.Bytes(), halves(2))
	require.NoError(t, run(t, d, record(t, d, hal.OneShot, func(c *hal.CommandBuffer) {
		c.Dispatch(e, map[string]hal.Range{"x": x.Range(0, 64)}, map[string]hal.Range{"y": y.Range(0, 64)})
	})))
	require.Equal(t, halves(6), y.Bytes())
	require.NoError(t, d.Close(ctx))

	for _, f := range files() { // every kind of damage
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		data[len(data)-1]++
		require.NoError(t, os.WriteFile(f, data, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "short.program"), []byte("x"), 0o600))
	d = newDevice(t, hal.CacheDir(dir))
	await.Until(t, "the damaged files are removed", func() bool { return len(files()) == 0 })
	prepare(t, d, scaleText(3))
	require.EqualValues(t, 1, d.Stats().Compiles)
	require.Len(t, files(), 1)

	engineHere, err := engine.Open(ctx, engine.Soft)
	require.NoError(t, err)
	_, err = hal.NewDevice(engineHere, hal.CacheDir(files()[0]))
	require.Error(t, err, "a file")
	require.NoError(t, engineHere.Close())
}
