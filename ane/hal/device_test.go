package hal_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

const addText = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x, tensor<fp16, [1, 1, 1, 32]> y) {
        tensor<fp16, [1, 1, 1, 32]> z = add(x = x, y = y)[name = string("z")];
    } -> (z);
}`

// newDevice opens a Device on the software engine, which the test closes.
func newDevice(t testing.TB, opts ...hal.Option) *hal.Device {
	t.Helper()
	e, err := engine.Open(context.Background(), engine.Soft, engine.AllowOffsets())
	require.NoError(t, err)
	return deviceOn(t, e, opts...)
}

// deviceOn closes the Device and its engine at the end of the test.
func deviceOn(t testing.TB, e *ane.Device, opts ...hal.Option) *hal.Device {
	t.Helper()
	d, err := hal.NewDevice(e, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close(context.Background()))
		require.NoError(t, d.Close(ended()), "a second time")
		require.NoError(t, e.Close())
	})
	return d
}

func newBuffer(t testing.TB, d *hal.Device, size int) *hal.Buffer {
	t.Helper()
	b, err := d.NewBuffer(size)
	require.NoError(t, err)
	return b
}

// record makes an ended CommandBuffer.
func record(t testing.TB, d *hal.Device, mode hal.Mode, f func(*hal.CommandBuffer)) *hal.CommandBuffer {
	t.Helper()
	c, err := d.NewCommandBuffer(mode)
	require.NoError(t, err)
	f(c)
	require.NoError(t, c.End())
	return c
}

// run executes buffers and waits for them.
func run(t testing.TB, d *hal.Device, buffers ...*hal.CommandBuffer) error {
	t.Helper()
	s := hal.NewSemaphore(0)
	require.NoError(t, d.Queue().Execute(context.Background(), nil, []hal.Point{{s, 1}}, buffers...))
	return await.Done(t, func() error { return s.Wait(context.Background(), 1) })
}

func wait(t testing.TB, s *hal.Semaphore, v uint64) error {
	t.Helper()
	return await.Done(t, func() error { return s.Wait(context.Background(), v) })
}

func TestTransfers(t *testing.T) {
	d := newDevice(t)
	b := newBuffer(t, d, 101)
	require.Equal(t, 101, b.Size())
	require.Equal(t, make([]byte, 101), b.Bytes())
	pattern, data := []byte{1, 2, 3, 4}, []byte("captured")
	c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) {
		c.Fill(b.Range(3, 7), pattern)
		c.Update(b.Range(21, 8), data)
		c.Copy(b.Range(90, 11), b.Range(3, 11))
		c.Fill(b.Range(50, 5), []byte{7, 8})
		c.Fill(b.Range(60, 1), []byte{9})
		c.Fill(b.Range(101, 0), []byte{9})
	})
	copy(pattern, "xxxx")
	copy(data, "changed!")
	require.NoError(t, run(t, d, c))
	want := make([]byte, 101)
	copy(want[3:], []byte{1, 2, 3, 4, 1, 2, 3})
	copy(want[21:], "captured")
	copy(want[90:], want[3:14])
	copy(want[50:], []byte{7, 8, 7, 8, 7})
	want[60] = 9
	require.Equal(t, want, b.Bytes())
	s := d.Stats()
	require.EqualValues(t, 1, s.Submissions)
	require.EqualValues(t, 6, s.Commands)
	require.EqualValues(t, 1, s.Barriers, "the copy reads what the fill and the update write")
	require.EqualValues(t, 5, s.Polyfills)
}

func TestRefusedCommands(t *testing.T) {
	d, other := newDevice(t), newDevice(t)
	b, strange := newBuffer(t, d, 64), newBuffer(t, other, 64)
	gone := newBuffer(t, d, 64)
	require.NoError(t, gone.Close())
	require.NoError(t, gone.Close())
	c, err := d.NewCommandBuffer(hal.Reusable)
	require.NoError(t, err)
	want := []error{}
	refuse := func(err error, f func()) { f(); want = append(want, err) }
	one := []byte{1}
	refuse(nil, func() { c.Fill(b.Range(0, 64), one) })
	refuse(hal.ErrPattern, func() { c.Fill(b.Range(0, 3), []byte{1, 2, 3}) })
	refuse(hal.ErrPattern, func() { c.Fill(b.Range(0, 0), nil) })
	refuse(nil, c.Barrier)
	for _, r := range []hal.Range{{}, {Buffer: &hal.Buffer{}}, b.Range(-1, 2), b.Range(0, -1), b.Range(0, 65),
		b.Range(65, 0),
		b.Range(1, math.MaxInt), b.Range(math.MaxInt, math.MaxInt), b.Range(math.MaxInt, 1)} {
		refuse(hal.ErrOutOfRange, func() { c.Fill(r, one) })
		refuse(hal.ErrOutOfRange, func() { c.Copy(b.Range(0, 1), r) })
	}
	refuse(hal.ErrOutOfRange, func() { c.Copy(b.Range(0, 1), b.Range(1, 2)) })
	refuse(hal.ErrOutOfRange, func() { c.Update(b.Range(0, 1), nil) })
	refuse(hal.ErrOverlap, func() { c.Copy(b.Range(0, 4), b.Range(3, 4)) })
	refuse(hal.ErrOverlap, func() { c.Copy(b.Range(7, 4), b.Range(7, 4)) })
	refuse(nil, func() { c.Copy(b.Range(0, 4), b.Range(4, 4)) })
	refuse(ane.ErrForeign, func() { c.Fill(strange.Range(0, 1), one) })
	refuse(hal.ErrClosed, func() { c.Fill(gone.Range(0, 1), one) })
	refuse(hal.ErrClosed, func() { c.Dispatch(nil, nil, nil) })
	err = c.End()
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	all := joined.Unwrap()
	for i, w := range want {
		if w == nil {
			continue
		}
		var ce *hal.CommandError
		require.ErrorAs(t, all[0], &ce, i)
		require.Equal(t, i, ce.Command)
		require.ErrorIs(t, ce, w, "command %d: %v", i, ce)
		all = all[1:]
	}
	require.Empty(t, all)
	require.ErrorIs(t, d.Queue().Execute(context.Background(), nil, nil, c), hal.ErrMode)
}

// Two Blocks of the same memory, and one Block imported twice, are the same bytes.
func TestAliasesOfMemory(t *testing.T) {
	d := newDevice(t)
	block, err := unimem.Open(1)
	require.NoError(t, err)
	a, err := d.Import(block)
	require.NoError(t, err)
	b, err := d.Import(block)
	require.NoError(t, err)
	require.ErrorIs(t, block.Close(), unimem.ErrInUse)
	c, err := d.NewCommandBuffer(hal.OneShot)
	require.NoError(t, err)
	c.Copy(a.Range(0, 10), b.Range(9, 10))
	require.ErrorIs(t, c.End(), hal.ErrOverlap)
	c = record(t, d, hal.OneShot, func(c *hal.CommandBuffer) {
		c.Fill(a.Range(0, 10), []byte{1})
		c.Copy(a.Range(20, 5), b.Range(5, 5))
	})
	require.EqualValues(t, 1, d.Stats().Barriers)
	require.NoError(t, run(t, d, c))
	require.Equal(t, bytes.Repeat([]byte{1}, 5), block.Bytes()[20:25])
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	require.NoError(t, block.Close())
	_, err = d.Import(block)
	require.ErrorIs(t, err, unimem.ErrClosed)
	_, err = d.Import(nil)
	require.ErrorIs(t, err, unimem.ErrClosed)
}

func TestMergingAndBarriers(t *testing.T) {
	for _, c := range []struct {
		name             string
		record           func(c *hal.CommandBuffer, b *hal.Buffer)
		merged, barriers int64
	}{
		{"fills in phase", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Fill(b.Range(0, 3), []byte{1, 2})
			c.Fill(b.Range(3, 5), []byte{2, 1})
			c.Fill(b.Range(8, 4), []byte{1, 2, 1, 2})
		}, 2, 0},
		{"fills out of phase", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Fill(b.Range(0, 3), []byte{1, 2})
			c.Fill(b.Range(3, 5), []byte{1, 2})
		}, 0, 0},
		{"fills backwards", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Fill(b.Range(8, 8), []byte{1, 2, 3, 4})
			c.Fill(b.Range(2, 6), []byte{3, 4, 1, 2})
		}, 1, 0},
		{"overlapping fills that differ", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Fill(b.Range(0, 8), []byte{1})
			c.Fill(b.Range(4, 8), []byte{2})
		}, 0, 1},
		{"copies", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Copy(b.Range(0, 8), b.Range(100, 8))
			c.Copy(b.Range(8, 8), b.Range(108, 8))
			c.Copy(b.Range(16, 8), b.Range(116, 8))
		}, 2, 0},
		{"copies of what was copied", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Copy(b.Range(8, 8), b.Range(0, 8))
			c.Copy(b.Range(16, 8), b.Range(8, 8))
		}, 0, 1},
		{"writes after reads", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Copy(b.Range(8, 8), b.Range(0, 8))
			c.Fill(b.Range(0, 1), []byte{1})
			c.Fill(b.Range(64, 1), []byte{1})
			c.Update(b.Range(64, 1), []byte{2})
		}, 0, 2},
		{"a barrier without a hazard", func(c *hal.CommandBuffer, b *hal.Buffer) {
			c.Fill(b.Range(0, 3), []byte{1})
			c.Barrier()
			c.Copy(b.Range(8, 8), b.Range(16, 8))
		}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t)
			b := newBuffer(t, d, 200)
			record(t, d, hal.OneShot, func(cb *hal.CommandBuffer) { c.record(cb, b) })
			require.Equal(t, c.merged, d.Stats().Merged, "merged")
			require.Equal(t, c.barriers, d.Stats().Barriers, "barriers")
		})
	}
}

func TestModes(t *testing.T) {
	d, other := newDevice(t), newDevice(t)
	q, ctx := d.Queue(), context.Background()
	b := newBuffer(t, d, 8)
	c, err := d.NewCommandBuffer(hal.OneShot)
	require.NoError(t, err)
	require.ErrorIs(t, q.Execute(ctx, nil, nil, c), hal.ErrMode, "not ended")
	c.Fill(b.Range(0, 1), []byte{1})
	require.NoError(t, c.End())
	require.ErrorIs(t, q.Execute(ctx, nil, nil, c, c), hal.ErrMode, "twice in one call")
	require.ErrorIs(t, other.Queue().Execute(ctx, nil, nil, c), ane.ErrForeign)
	require.NoError(t, run(t, d, c))
	require.ErrorIs(t, q.Execute(ctx, nil, nil, c), hal.ErrMode, "submitted before")
	c = record(t, d, hal.Reusable, func(*hal.CommandBuffer) {})
	require.NoError(t, run(t, d, c, c))
	c.Barrier()
	require.ErrorIs(t, q.Execute(ctx, nil, nil, c), hal.ErrMode, "recorded into after End")
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	_, err = d.NewCommandBuffer(7)
	require.ErrorIs(t, err, hal.ErrMode)
	c = record(t, d, hal.Reusable, func(*hal.CommandBuffer) {})
	require.NoError(t, c.Close())
	require.ErrorIs(t, q.Execute(ctx, nil, nil, c), hal.ErrClosed)
}

func TestSubmissionsInAnyOrder(t *testing.T) {
	d := newDevice(t)
	b := newBuffer(t, d, 4)
	s := hal.NewSemaphore(0)
	const n = 50
	for i := n; i > 0; i-- { // each appends a digit, the last one is submitted first
		c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) { c.Update(b.Range(i%4, 1), []byte{byte(i)}) })
		require.NoError(t, d.Queue().Execute(context.Background(), []hal.Point{{s, uint64(i)}},
			[]hal.Point{{s, uint64(i + 1)}}, c))
	}
	c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) { c.Fill(b.Range(0, 4), []byte{9}) })
	require.NoError(t, d.Queue().Execute(context.Background(), []hal.Point{{s, 1000}}, nil, c))
	require.ErrorIs(t, b.Close(), hal.ErrInUse)
	require.ErrorIs(t, b.Close(), ane.ErrInUse)
	require.ErrorIs(t, c.Close(), hal.ErrInUse)
	require.NoError(t, s.Signal(1))
	require.NoError(t, wait(t, s, n+1))
	require.Equal(t, []byte{48, 49, 50, 47}, b.Bytes())
	s.Fail(errCause)
	await.Until(t, "the failed submission has ended", func() bool { return b.Close() == nil })
	require.NoError(t, c.Close())
	require.Nil(t, b.Bytes())
}

// A long chain needs no stack, in either order of submission.
func TestLongChains(t *testing.T) {
	d := newDevice(t)
	const n = 100_000
	for _, failing := range []bool{false, true} {
		s := make([]*hal.Semaphore, n+1)
		for i := range s {
			s[i] = hal.NewSemaphore(0)
		}
		for i := n - 1; i >= 0; i-- {
			require.NoError(t, d.Queue().Execute(context.Background(), []hal.Point{{s[i], 1}},
				[]hal.Point{{s[i+1], 1}}))
		}
		if failing {
			s[0].Fail(errCause)
			require.ErrorIs(t, wait(t, s[n], 1), errCause)
			require.ErrorIs(t, wait(t, s[n], 1), hal.ErrFailed)
		} else {
			require.NoError(t, s[0].Signal(1))
			require.NoError(t, wait(t, s[n], 1))
		}
	}
}

func TestFailuresOfSubmissions(t *testing.T) {
	d := newDevice(t)
	q, ctx := d.Queue(), context.Background()
	never, failed, done := hal.NewSemaphore(0), hal.NewSemaphore(0), hal.NewSemaphore(3)
	require.NoError(t, q.Execute(ctx, []hal.Point{{never, 1}, {failed, 1}}, []hal.Point{{done, 4}}))
	failed.Fail(errCause)
	require.ErrorIs(t, wait(t, done, 4), errCause, "at once")
	require.NoError(t, wait(t, done, 3), "reached before")

	back := hal.NewSemaphore(5)
	require.NoError(t, q.Execute(ctx, nil, []hal.Point{{back, 5}}))
	require.NoError(t, q.Execute(ctx, nil, []hal.Point{{back, 4}}))
	require.ErrorIs(t, wait(t, back, 6), hal.ErrBackwards)
	require.ErrorIs(t, wait(t, back, 6), hal.ErrFailed)

	b := newBuffer(t, d, 8)
	for name, start := range map[string]func(ctx context.Context, s *hal.Semaphore) error{
		"execute": func(ctx context.Context, s *hal.Semaphore) error {
			c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) { c.Fill(b.Range(0, 8), []byte{1}) })
			return q.Execute(ctx, []hal.Point{{never, 1}}, []hal.Point{{s, 1}}, c)
		},
		"alloca": func(ctx context.Context, s *hal.Semaphore) error {
			_, err := q.Alloca(ctx, []hal.Point{{never, 1}}, []hal.Point{{s, 1}}, 8)
			return err
		},
		"dealloca": func(ctx context.Context, s *hal.Semaphore) error {
			return q.Dealloca(ctx, []hal.Point{{never, 1}}, []hal.Point{{s, 1}}, b)
		},
		"empty": func(ctx context.Context, s *hal.Semaphore) error {
			return q.Execute(ctx, []hal.Point{{never, 1}}, []hal.Point{{s, 1}})
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		s, u := hal.NewSemaphore(0), hal.NewSemaphore(0)
		require.NoError(t, start(ctx, s), name)
		cancel()
		require.ErrorIs(t, wait(t, s, 1), context.Canceled, name)
		require.ErrorIs(t, wait(t, s, 1), hal.ErrFailed, name)
		require.NoError(t, start(ctx, u), name+" with an ended context")
		require.ErrorIs(t, wait(t, u, 1), context.Canceled, name)
	}
	require.Equal(t, make([]byte, 8), b.Bytes())
	require.NoError(t, b.Close())
	require.ErrorIs(t, q.Execute(ctx, []hal.Point{{nil, 1}}, nil), hal.ErrClosed)
	require.ErrorIs(t, q.Execute(ctx, nil, []hal.Point{{&hal.Semaphore{}, 1}}), hal.ErrClosed)
}

func TestDeviceClose(t *testing.T) {
	e, err := engine.Open(context.Background(), engine.Soft)
	require.NoError(t, err)
	d, err := hal.NewDevice(e)
	require.NoError(t, err)
	live := unimem.Live().Blocks
	never, s := hal.NewSemaphore(0), hal.NewSemaphore(0)
	b := newBuffer(t, d, 8)
	c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) { c.Fill(b.Range(0, 8), []byte{1}) })
	ctx := context.Background()
	require.NoError(t, d.Queue().Execute(ctx, []hal.Point{{never, 1}}, []hal.Point{{s, 1}}, c))
	_, err = d.Queue().Alloca(ctx, []hal.Point{{never, 1}}, nil, 8)
	require.NoError(t, err)
	_, err = d.Prepare(ctx, ane.Source{Text: []byte(addText)})
	require.NoError(t, err)
	require.NoError(t, d.Close(ctx))
	require.ErrorIs(t, wait(t, s, 1), hal.ErrClosed)
	require.ErrorIs(t, wait(t, s, 1), hal.ErrFailed)
	require.Equal(t, live, unimem.Live().Blocks)
	require.NoError(t, e.Close(), "no Model is open")
	require.Nil(t, b.Bytes())
	_, err = d.NewBuffer(8)
	require.ErrorIs(t, err, hal.ErrClosed)
	_, err = d.Import(nil)
	require.ErrorIs(t, err, hal.ErrClosed)
	_, err = d.NewCommandBuffer(hal.OneShot)
	require.ErrorIs(t, err, hal.ErrClosed)
	_, err = d.Prepare(ctx, ane.Source{})
	require.ErrorIs(t, err, hal.ErrClosed)
	_, err = d.Queue().Alloca(ctx, nil, nil, 8)
	require.ErrorIs(t, err, hal.ErrClosed)
	require.ErrorIs(t, d.Queue().Execute(ctx, nil, nil), hal.ErrClosed)
	require.ErrorIs(t, c.End(), hal.ErrClosed)
	c.Barrier()
	require.NoError(t, b.Close())
	require.NoError(t, c.Close())
}

func TestZeroValues(t *testing.T) {
	ctx := context.Background()
	for _, d := range []*hal.Device{nil, {}} {
		_, err := d.NewBuffer(1)
		require.ErrorIs(t, err, hal.ErrClosed)
		_, err = d.Import(nil)
		require.ErrorIs(t, err, hal.ErrClosed)
		_, err = d.NewCommandBuffer(hal.OneShot)
		require.ErrorIs(t, err, hal.ErrClosed)
		_, err = d.Prepare(ctx, ane.Source{})
		require.ErrorIs(t, err, hal.ErrClosed)
		require.Zero(t, d.Stats())
		require.NoError(t, d.Close(ctx))
		require.ErrorIs(t, d.Queue().Execute(ctx, nil, nil), hal.ErrClosed)
		var out bytes.Buffer
		_, err = d.Trace().WriteTo(&out)
		require.NoError(t, err)
		require.Equal(t, `{"traceEvents":[]}`, strings.Join(strings.Fields(out.String()), ""))
	}
	for _, q := range []*hal.Queue{nil, {}} {
		require.ErrorIs(t, q.Execute(ctx, nil, nil), hal.ErrClosed)
		_, err := q.Alloca(ctx, nil, nil, 1)
		require.ErrorIs(t, err, hal.ErrClosed)
		require.ErrorIs(t, q.Dealloca(ctx, nil, nil, nil), hal.ErrClosed)
	}
	for _, b := range []*hal.Buffer{nil, {}} {
		require.Nil(t, b.Bytes())
		require.Zero(t, b.Size())
		require.NoError(t, b.Close())
		_ = b.Range(1, 2)
	}
	for _, c := range []*hal.CommandBuffer{nil, {}} {
		c.Fill(hal.Range{}, nil)
		c.Copy(hal.Range{}, hal.Range{})
		c.Update(hal.Range{}, nil)
		c.Dispatch(nil, nil, nil)
		c.Barrier()
		require.ErrorIs(t, c.End(), hal.ErrClosed)
		require.NoError(t, c.Close())
		require.ErrorIs(t, newDevice(t).Queue().Execute(ctx, nil, nil, c), hal.ErrClosed)
	}
	for _, e := range []*hal.Executable{nil, {}} {
		require.Nil(t, e.Inputs())
		require.Nil(t, e.Outputs())
		require.Zero(t, e.Receipt())
		require.NoError(t, e.Close(ctx))
	}
	for _, d := range []*ane.Device{nil, {}} {
		_, err := hal.NewDevice(d)
		require.ErrorIs(t, err, hal.ErrClosed)
	}
	e, err := engine.Open(ctx, engine.Soft)
	require.NoError(t, err)
	_, err = hal.NewDevice(e, nil, hal.CacheLimit(-1))
	require.ErrorIs(t, err, hal.ErrOutOfRange)
	require.NoError(t, e.Close())
	require.NotEmpty(t, (&hal.Error{Base: errtext.Base{Op: "x"}}).Error())
	require.NotEmpty(t, (&hal.CycleError{}).Error())
	var cycle *hal.CycleError
	require.NotEmpty(t, cycle.Error())
	_, err = newDevice(t, hal.Tracing()).Trace().WriteTo(nil)
	require.ErrorIs(t, err, hal.ErrClosed)
	require.True(t, errors.Is(hal.ErrInUse, ane.ErrInUse))
}
