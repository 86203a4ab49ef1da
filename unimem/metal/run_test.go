package metal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

func kernel(t *testing.T, d *Device, p Program) *Kernel {
	k, err := d.NewKernel(p)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k
}

func buffer(t *testing.T, d *Device, b *unimem.Block) *Buffer {
	x, err := d.NewBuffer(b)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func event(t *testing.T, d *Device, v uint64) *Event {
	e, err := d.NewEvent(v)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func uints(n ...uint32) (push []byte) {
	for _, v := range n {
		push = binary.LittleEndian.AppendUint32(push, v)
	}
	return push
}

// productInPlace multiplies 128 x 128 small integers, which is exact in float32: each of the 16,384 elements is
// compared.
func productInPlace(t *testing.T, d *Device, b *unimem.Block) {
	const n, size = 128, 4 * 128 * 128
	buf := buffer(t, d, b)
	all, err := unimem.View[float32](b.Bytes()[:3*size])
	require.NoError(t, err)
	x, y, z := all[:n*n], all[n*n:2*n*n], all[2*n*n:]
	for i := range x {
		x[i], y[i] = float32(i%17-8), float32(i%13-6)
	}
	w, err := d.Submit(nil, nil, Dispatch{Kernel: kernel(t, d, Product()), Buffers: []Range{buf.Range(0, size),
		buf.Range(size, size), buf.Range(2*size, size)}, Push: uints(n), Groups: Product().Groups(n, n, 1)})
	require.NoError(t, err)
	require.NoError(t, w.Wait(t.Context()))
	wrong := 0
	for r := range n {
		for c := range n {
			want := 0
			for i := range n {
				want += int(x[r*n+i]) * int(y[i*n+c])
			}
			if z[r*n+c] != float32(want) {
				wrong++
			}
		}
	}
	require.Zero(t, wrong, "errors in %d elements", n*n)
}

// chained runs y = 2x+1, then z = y/2 - 1 on one Block, ordered by an event of the host: z is x again.
func chained(t *testing.T, d *Device, b *unimem.Block, half func(float32) uint16) {
	buf, k, e := buffer(t, d, b), kernel(t, d, Scale()), event(t, d, 3)
	const elements, size = 1000, 2 * 1000
	words, err := unimem.View[uint16](b.Bytes())
	require.NoError(t, err)
	scale := func(from, to int, factor, offset float32) Dispatch {
		return Dispatch{Kernel: k, Buffers: []Range{buf.Range(from, size), buf.Range(to, size)},
			Push: uints(elements/2, math.Float32bits(factor), math.Float32bits(offset)), Groups: [3]int{2, 1, 1}}
	}
	w, err := d.Submit([]Point{{e, 4}}, []Point{{e, 6}}, scale(0, size, 2, 1), scale(size, 2*size, 0.5, -1))
	require.NoError(t, err)
	require.ErrorIs(t, buf.Close(), ErrInUse)
	require.ErrorIs(t, k.Close(), ErrInUse)
	require.ErrorIs(t, e.Close(), ErrInUse)
	for i := range elements { // after Submit, before the wait is reached
		words[i] = half(float32(i))
	}
	v, err := e.Value()
	require.NoError(t, err)
	require.EqualValues(t, 3, v)
	require.NoError(t, e.Signal(4))
	require.NoError(t, e.Wait(t.Context(), 6))
	require.NoError(t, w.Wait(t.Context()))
	for i := range elements {
		require.Equal(t, half(float32(2*i+1)), words[elements+i], "element %d", i)
		require.Equal(t, half(float32(i)-0.5), words[2*elements+i], "element %d", i)
	}
	require.Zero(t, words[3*elements], "nothing else is written")
}

// half is exact for the integers and halves up to 2047 that the tests use.
func half(f float32) uint16 {
	if f == 0 {
		return 0
	}
	bits := math.Float32bits(f)
	return uint16(bits>>16&0x8000 | (bits>>23-127+15)&31<<10 | bits>>13&1023)
}

// The kernels' texts compute on the pages of a Block. The fake runs the very texts, on the CPU.
func TestTextsOnAFake(t *testing.T) {
	f := newFake(t)
	onCPU(t, f)
	d := f.device()
	productInPlace(t, d, surface(t, 3*4*128*128))
	chained(t, d, surface(t, page), half)
}

// Metal's compiler is not a fake's: a text that is no C++ either is refused with its words.
func TestTextThatDoesNotCompile(t *testing.T) {
	f := newFake(t)
	onCPU(t, f)
	p := Scale()
	p.Text += "\nnonsense"
	_, err := f.device().NewKernel(p)
	require.ErrorIs(t, err, ErrKernel)
	require.ErrorContains(t, err, "nonsense")
}

// What Metal gets is what the Program and the Dispatch say.
func TestWorkThatMetalGets(t *testing.T) {
	f := newFake(t)
	d := f.device()
	b := surface(t, page)
	buf, k, e := buffer(t, d, b), kernel(t, d, Scale()), event(t, d, 0)
	w, err := d.Submit([]Point{{e, 0}}, []Point{{e, 5}}, Dispatch{Kernel: k, Buffers: []Range{buf.Range(8, 16),
		buf.Range(64, 16)}, Push: uints(1, 2, 3), Groups: [3]int{7, 1, 1}})
	require.NoError(t, err)
	require.NoError(t, w.Wait(t.Context()))
	buffers, kernels, events := buf.object.ref, k.object.ref, e.object.ref
	require.Equal(t, []work{{waits: []eventAt{{events, 0}}, signals: []eventAt{{events, 5}}, steps: []step{{dispatch: dispatch{
		pipeline: kernels, buffers: []bound{{buffers, 8, 2}, {buffers, 64, 1}}, push: uints(1, 2, 3), pushAt: 0,
		groups: [3]int{7, 1, 1}, group: [3]int{64, 1, 1}}}}}}, f.started)
	v, err := e.Value()
	require.NoError(t, err)
	require.EqualValues(t, 5, v)
	next, err := e.Next(t.Context(), 3)
	require.NoError(t, err)
	require.EqualValues(t, 5, next)
}

func TestSubmitRefuses(t *testing.T) {
	f := newFake(t)
	d, other := f.device(), f.device()
	b := surface(t, page)
	buf, k, e := buffer(t, d, b), kernel(t, d, Scale()), event(t, d, 9)
	closed, err := d.NewBuffer(b)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	good := Dispatch{Kernel: k, Buffers: []Range{buf.Range(0, 4), buf.Range(0, 4)}, Push: uints(1, 0, 0),
		Groups: [3]int{1, 1, 1}}
	with := func(change func(*Dispatch)) Dispatch {
		c := good
		c.Buffers = append([]Range{}, good.Buffers...)
		change(&c)
		return c
	}
	for name, x := range map[string]struct {
		c    Dispatch
		want error
		text string
	}{
		"no kernel":   {Dispatch{}, ErrClosed, "Kernel"},
		"of other":    {with(func(c *Dispatch) { c.Kernel = kernel(t, other, Scale()) }), ErrForeign, "Kernel of this"},
		"one buffer":  {with(func(c *Dispatch) { c.Buffers = c.Buffers[:1] }), ErrKernel, "1 buffers, the"},
		"short push":  {with(func(c *Dispatch) { c.Push = c.Push[4:] }), ErrKernel, "8 bytes of constants"},
		"no groups":   {with(func(c *Dispatch) { c.Groups[1] = 0 }), ErrKernel, "at least 1"},
		"no buffer":   {with(func(c *Dispatch) { c.Buffers[1] = Range{} }), ErrClosed, "Buffer is nil"},
		"closed":      {with(func(c *Dispatch) { c.Buffers[1] = closed.Range(0, 4) }), ErrClosed, "nil or closed"},
		"negative":    {with(func(c *Dispatch) { c.Buffers[0].Offset = -4 }), ErrRange, "buffer 0: 4 bytes at -4"},
		"after":       {with(func(c *Dispatch) { c.Buffers[1].Offset = page }), ErrRange, "buffer 1"},
		"overflow":    {with(func(c *Dispatch) { c.Buffers[1].Length = math.MaxInt }), ErrRange, ""},
		"empty":       {with(func(c *Dispatch) { c.Buffers[1].Length = 0 }), ErrRange, "0 bytes"},
		"odd offset":  {with(func(c *Dispatch) { c.Buffers[1].Offset = 2 }), ErrRange, "multiples of 4"},
		"odd length":  {with(func(c *Dispatch) { c.Buffers[1].Length = 3 }), ErrRange, "multiples of 4"},
		"second of 2": {with(func(c *Dispatch) { c.Push = nil }), ErrKernel, "command 1: scale: 0 bytes"},
	} {
		_, err := d.Submit(nil, nil, good, x.c)
		var typed *Error
		require.ErrorAs(t, err, &typed, name)
		require.ErrorIs(t, err, x.want, name)
		require.ErrorContains(t, err, x.text, name)
	}
	_, err = d.Submit([]Point{{}}, nil)
	require.ErrorIs(t, err, ErrClosed)
	_, err = d.Submit(nil, []Point{{e, 9}})
	require.ErrorIs(t, err, ErrBackwards)
	f.refuse = true
	_, err = d.Submit(nil, nil, good)
	require.ErrorIs(t, err, ErrRefused)
	_, err = d.NewEvent(0)
	require.ErrorIs(t, err, ErrRefused)
	f.refuse = false
	require.Empty(t, f.started, "nothing of these reached the GPU")
	require.NoError(t, other.Close())
	_, err = other.Submit(nil, nil)
	require.ErrorIs(t, err, ErrClosed)
	_, err = other.NewKernel(Scale())
	require.ErrorIs(t, err, ErrClosed)
	_, err = other.NewEvent(0)
	require.ErrorIs(t, err, ErrClosed)
}

func TestKernelsThatDoNotFit(t *testing.T) {
	f := newFake(t)
	d := f.device()
	f.threads = 63
	_, err := d.NewKernel(Scale())
	require.ErrorIs(t, err, ErrKernel)
	require.ErrorContains(t, err, "64 threads in a group, this GPU runs 63")
	p := Scale()
	p.Push = 6
	_, err = d.NewKernel(p)
	require.ErrorContains(t, err, "6 bytes of constants")
	p.Push, p.Buffers = 4, make([]int, 31)
	_, err = d.NewKernel(p)
	require.ErrorContains(t, err, "31 buffers")
}

// The codes of MTLCommandBufferError are kinds of errors, and a failed Work frees what it named.
func TestFailedWork(t *testing.T) {
	f := newFake(t)
	d := f.device()
	e := event(t, d, 0)
	for code, want := range map[int]error{1: ErrFailed, 2: ErrTimeout, 3: ErrFault, 4: ErrLost, 8: ErrMemory,
		11: ErrLost, 99: ErrFailed} {
		f.fail = end{code, "the GPU's words"}
		w, err := d.Submit(nil, []Point{{e, 1}})
		require.NoError(t, err)
		err = w.Wait(t.Context())
		require.ErrorIs(t, err, ErrFailed)
		require.ErrorIs(t, err, want, "code %d", code)
		require.ErrorContains(t, err, fmt.Sprintf("code %d of MTLCommandBufferError: the GPU's words", code))
	}
	v, err := e.Value()
	require.NoError(t, err)
	require.Zero(t, v, "failed work signals nothing")
}

func TestWaits(t *testing.T) {
	f := newFake(t)
	d := f.device()
	e := event(t, d, 0)
	w, err := d.Submit([]Point{{e, 1}}, nil)
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.Wait(ended), context.Canceled)
	require.ErrorIs(t, e.Wait(ended, 1), context.Canceled)
	late := await.DeadlineWhen(t, t.Context(), func() bool {
		e.object.mu.Lock()
		defer e.object.mu.Unlock()
		return e.object.uses == 2 // the Work and the wait below
	})
	require.ErrorIs(t, e.Wait(late, 1), context.DeadlineExceeded)
	require.NoError(t, e.Signal(2))
	require.NoError(t, e.Signal(2), "again")
	require.ErrorIs(t, e.Signal(1), ErrBackwards)
	require.NoError(t, w.Wait(t.Context()))
	require.NoError(t, w.Wait(ended), "the result of a Work that has ended counts more than ctx")
}

func TestNilObjects(t *testing.T) {
	var none *Device
	_, err := none.Submit(nil, nil)
	require.ErrorIs(t, err, ErrClosed)
	for _, e := range []*Event{nil, {}} {
		require.NoError(t, e.Close())
		require.ErrorIs(t, e.Signal(1), ErrClosed)
		var background context.Context
		require.ErrorIs(t, e.Wait(background, 1), ErrClosed)
		_, err = e.Value()
		require.ErrorIs(t, err, ErrClosed)
	}
	for _, k := range []*Kernel{nil, {}} {
		require.NoError(t, k.Close())
	}
	for _, w := range []*Work{nil, {}} {
		require.ErrorIs(t, w.Wait(t.Context()), ErrClosed)
	}
}

// Metal's own memory is apart from a Block; a Buffer of a Block is the Block.
func TestMemoryOfMetal(t *testing.T) {
	f := newFake(t)
	d := f.device()
	require.True(t, d.Unified())
	b := surface(t, page)
	in := buffer(t, d, b)
	require.Equal(t, b.Address(), in.Address())
	require.Len(t, in.Bytes(), b.Size())
	require.Same(t, &b.Bytes()[0], &in.Bytes()[0])
	own, err := d.Allocate(100)
	require.NoError(t, err)
	require.Len(t, own.Bytes(), 100)
	own.Bytes()[99] = 1
	require.Zero(t, b.Bytes()[99])
	require.NoError(t, own.Close())
	require.Nil(t, own.Bytes())
	require.Zero(t, own.Address())
	for _, size := range []int{0, -1, 1<<30 + 1} {
		_, err = d.Allocate(size)
		require.ErrorIs(t, err, ErrRange)
	}
	f.refuse = true
	_, err = d.Allocate(1)
	require.ErrorIs(t, err, ErrRefused)
	f.refuse = false
	require.NoError(t, d.Close())
	_, err = d.Allocate(1)
	require.ErrorIs(t, err, ErrClosed)
	require.False(t, d.Unified())
	require.Zero(t, (*Buffer)(nil).Address())
}

func TestCapture(t *testing.T) {
	f := newFake(t)
	d := f.device()
	path := filepath.Join(t.TempDir(), "x.gputrace")
	ours := errors.New("ours")
	require.ErrorIs(t, d.Capture(path, func() error {
		require.True(t, f.capture.open)
		require.Equal(t, path, f.capture.path)
		return ours
	}), ours)
	require.False(t, f.capture.open)
	called := func() error { t.Error("called"); return nil }
	require.ErrorIs(t, d.Capture("x.trace", called), ErrCapture)
	require.ErrorIs(t, d.Capture(t.TempDir(), called), ErrCapture)
	f.capture.fault = "the words of Metal"
	err := d.Capture(path, called)
	require.ErrorIs(t, err, ErrCapture)
	require.ErrorContains(t, err, "the words of Metal: start the process with METAL_CAPTURE_ENABLED=1")
	require.NoError(t, d.Close())
	require.ErrorIs(t, d.Capture(path, called), ErrClosed)
}
