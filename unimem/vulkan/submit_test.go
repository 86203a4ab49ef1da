package vulkan

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Commands that do not fit are refused with their number, before the driver sees them.
func TestRefusedCommands(t *testing.T) {
	d := device(t)
	other := device(t)
	buf, err := d.NewBuffer(t.Context(), 256)
	require.NoError(t, err)
	foreignBuffer, err := other.NewBuffer(t.Context(), 256)
	require.NoError(t, err)
	gone, err := d.NewBuffer(t.Context(), 256)
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	k, ok := kernel(t, d, Scale()), buf.Range(0, 256)
	words := push(64, float32(1), float32(0))
	one := [3]int{1, 1, 1}
	elsewhere, err := other.NewTimeline(0)
	require.NoError(t, err)
	for _, c := range []struct {
		kind error
		word string
		of   Command
	}{
		{ErrRange, "0 bytes from 0 on", Fill{buf.Range(0, 0), 1}},
		{ErrRange, "8 bytes from 252 on", Fill{buf.Range(252, 8), 1}},
		{ErrRange, "from -4 on", Fill{buf.Range(-4, 8), 1}},
		{ErrAlignment, "offset 2", Fill{buf.Range(2, 4), 1}},
		{ErrAlignment, "length 6", Fill{buf.Range(0, 6), 1}},
		{ErrClosed, "nil or zero", Fill{Range{}, 1}},
		{ErrForeign, "this Device", Fill{foreignBuffer.Range(0, 4), 1}},
		{ErrClosed, "Buffer is closed", Fill{gone.Range(0, 4), 1}},
		{ErrRange, "8 bytes to 4", Copy{To: buf.Range(0, 4), From: buf.Range(8, 8)}},
		{ErrRange, "share bytes", Copy{To: buf.Range(0, 8), From: buf.Range(4, 8)}},
		{ErrClosed, "Kernel", Dispatch{}},
		{ErrKernel, "2 buffers, not 1", Dispatch{k, []Range{ok}, words, one}},
		{ErrKernel, "12 bytes of push constants, not 4", Dispatch{k, []Range{ok, ok}, push(1), one}},
		{ErrKernel, "0 groups along axis 1", Dispatch{k, []Range{ok, ok}, words, [3]int{1, 0, 1}}},
		{ErrKernel, "groups along axis 0", Dispatch{k, []Range{ok, ok}, words,
			[3]int{int(d.limits.maxGroups[0]) + 1, 1, 1}}},
		{ErrAlignment, "buffer 1", Dispatch{k, []Range{ok, buf.Range(4, 4)}, words, one}},
		{ErrForeign, "Kernel of this", Dispatch{Kernel: kernel(t, other, Scale())}},
	} {
		err := d.Submit(t.Context(), nil, nil, Fill{ok, 0}, c.of)
		fails(t, err, c.kind, "")
		require.ErrorContains(t, err, c.word)
	}
	fails(t, d.Submit(t.Context(), nil, nil, nil), ErrClosed, "")
	fails(t, d.Submit(t.Context(), []Point{{}}, nil), ErrClosed, "")
	fails(t, d.Submit(t.Context(), []Point{{elsewhere, 1}}, nil), ErrForeign, "")
	var none *Device
	fails(t, none.Submit(t.Context(), nil, nil), ErrClosed, "")
	require.NoError(t, none.Close(t.Context()))
	_, err = none.NewKernel(t.Context(), Scale())
	fails(t, err, ErrClosed, "")
	d.MaxRange = 128
	err = d.Submit(t.Context(), nil, nil, Dispatch{k, []Range{ok, ok}, words, one})
	fails(t, err, ErrRange, "")
}

// A Dispatch reads what a Fill before it wrote, and a Copy reads what the Dispatch wrote. The caller may change its
// arguments after Submit. What is none of the commands is refused, not left out.
func TestCommandsFollowEachOther(t *testing.T) {
	d := device(t)
	buf, err := d.NewBuffer(t.Context(), 256)
	require.NoError(t, err)
	done, err := d.NewTimeline(0)
	require.NoError(t, err)
	all := buf.Range(0, 64)
	ones := Fill{all, 0x3c003c00} // in fp16
	run := Dispatch{kernel(t, d, Scale()), []Range{all, buf.Range(128, 64)}, push(16, float32(2), float32(1)),
		[3]int{1, 1, 1}}
	last := Copy{To: buf.Range(192, 64), From: buf.Range(128, 64)}
	require.NoError(t, d.Submit(t.Context(), nil, []Point{{done, 1}}, ones, run, last))
	clear(run.Buffers)
	clear(run.Push)
	require.NoError(t, done.Wait(t.Context(), 1))
	require.Equal(t, bytes.Repeat([]byte{0x00, 0x42}, 32), mapped(buf)[192:], "3 in fp16")

	type own struct{ Fill }
	for _, c := range []Command{nil, &ones, &last, &run, own{Fill{all, 1}}, &own{Fill{all, 1}}} {
		fails(t, d.Submit(t.Context(), nil, nil, c), ErrClosed, "")
	}
}

// Two Buffers of one memory share bytes: two imports of a Block, a Block that adopted part of another one, and two
// Blocks that map one memfd at two addresses. Copies between bytes that are not the same run.
func TestCopiesOfSharedMemory(t *testing.T) {
	d := device(t)
	const page = 4096
	b := block(t, 2*unimem.PageSize)
	part, err := unimem.AdoptMemory(b.Bytes()[page:], nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, part.Close()) })
	others := map[string]struct {
		b     *unimem.Block
		begin int // in b
	}{"the same Block": {b, 0}, "part of it": {part, page}}
	if f, err := b.Share(); err == nil {
		twin, err := unimem.Adopt(f, b.Size())
		require.NoError(t, err)
		require.NoError(t, f.Close())
		t.Cleanup(func() { require.NoError(t, twin.Close()) })
		require.NotEqual(t, b.Address(), twin.Address())
		others["a second mapping"] = struct {
			b     *unimem.Block
			begin int
		}{twin, 0}
	}
	whole := imported(t, d, b)
	for name, o := range others {
		other := imported(t, d, o.b)
		from := whole.Range(2*page, 64)
		for _, at := range []int{2*page - 60, 2 * page, 2*page + 60} {
			err := d.Submit(t.Context(), nil, nil, Copy{To: other.Range(at-o.begin, 64), From: from})
			fails(t, err, ErrRange, "")
			require.ErrorContains(t, err, "share bytes", name)
		}
		for _, at := range []int{2*page - 64, 2*page + 64} {
			copy(b.Bytes()[2*page:], name)
			clear(b.Bytes()[at : at+64])
			run(t, d, Copy{To: other.Range(at-o.begin, 64), From: from})
			require.Equal(t, b.Bytes()[2*page:2*page+64], b.Bytes()[at:at+64], name)
		}
	}
}

func TestRefusedKernels(t *testing.T) {
	d := device(t)
	good := Scale()
	for _, change := range []func(*Program){
		func(p *Program) { p.Code = nil }, func(p *Program) { p.Code = p.Code[:len(p.Code)-1] },
		func(p *Program) { p.Code = []byte(p.Text) }, func(p *Program) { p.Buffers = 5 },
		func(p *Program) { p.Push = 6 }, func(p *Program) { p.Push = 132 },
		func(p *Program) { p.Group = [3]int{1 << 20, 1, 1} },
	} {
		p := good
		change(&p)
		_, err := d.NewKernel(t.Context(), p)
		fails(t, err, ErrKernel, "")
	}
	_, err := d.NewKernel(t.Context(), Program{})
	require.EqualError(t, err, "vulkan: kernel: kernel cannot run; the Program without a name: Code is not SPIR-V: "+
		"compile the text with glslangValidator -V")
	require.Equal(t, [3]int{3, 2, 1}, Product().Groups(17, 16, 1))
}

// What pending work names stays open; Close of the Device ends with the context while the work waits, and goes on
// later.
func TestPendingWorkHoldsItsObjects(t *testing.T) {
	d := device(t)
	b := block(t, unimem.PageSize)
	buf, k := imported(t, d, b), kernel(t, d, Scale())
	gate, err := d.NewTimeline(0)
	require.NoError(t, err)
	done, err := d.NewTimeline(0)
	require.NoError(t, err)
	work := Dispatch{k, []Range{buf.Range(0, 64), buf.Range(0, 64)}, push(16, float32(0), float32(1)), [3]int{1, 1, 1}}
	require.NoError(t, d.Submit(t.Context(), []Point{{gate, 3}}, []Point{{done, 1}}, work))
	for _, o := range []interface{ Close() error }{buf, k, gate, done} {
		fails(t, o.Close(), ErrInUse, "")
	}
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	short, cancel := context.WithTimeout(t.Context(), waitNot)
	defer cancel()
	require.ErrorIs(t, done.Wait(short, 1), context.DeadlineExceeded)
	require.ErrorIs(t, d.Close(short), context.DeadlineExceeded)
	_, err = d.NewTimeline(0)
	fails(t, err, ErrClosed, "")
	require.Zero(t, b.Bytes()[0])
	require.NoError(t, gate.Signal(3))
	require.NoError(t, done.Wait(t.Context(), 1))
	require.EqualValues(t, 0x3c003c00, words(b.Bytes())[0])
	require.NoError(t, gate.Close())
	require.NoError(t, d.Close(t.Context()), "closes what is open")
	require.NoError(t, d.Close(t.Context()))
	require.Nil(t, buf.Bytes())
	require.Zero(t, buf.Address())
	require.NoError(t, buf.Close())
}

func TestTimelines(t *testing.T) {
	d := device(t)
	line, err := d.NewTimeline(5)
	require.NoError(t, err)
	v, err := line.Value()
	require.NoError(t, err)
	require.EqualValues(t, 5, v)
	fails(t, line.Signal(5), ErrBackwards, "")
	require.NoError(t, line.Signal(7))
	require.NoError(t, line.Wait(t.Context(), 6))
	gate, err := d.NewTimeline(0)
	require.NoError(t, err)
	require.NoError(t, d.Submit(t.Context(), []Point{{gate, 1}}, []Point{{line, 10}}))
	fails(t, d.Submit(t.Context(), nil, []Point{{line, 10}}), ErrBackwards, "")
	fails(t, line.Signal(10), ErrBackwards, "")
	fails(t, line.Signal(11), ErrBackwards, "")
	require.NoError(t, line.Signal(9), "below what is pending")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, line.Wait(ended, 10), context.Canceled)
	require.NoError(t, line.Wait(ended, 9), "a value that is reached needs no waiting")
	next := make(chan uint64, 1)
	go func() {
		v, err := line.Next(context.Background(), 9)
		if err == nil {
			next <- v
		}
		close(next)
	}()
	require.NoError(t, gate.Signal(1))
	require.EqualValues(t, 10, <-next)
	require.NoError(t, line.Close())
	require.NoError(t, line.Close())
	fails(t, line.Signal(12), ErrClosed, "")
	var none *Timeline
	fails(t, none.Wait(t.Context(), 1), ErrClosed, "")
	require.NoError(t, none.Close())
}

// Many goroutines use one device: every submission adds 1 to its own words.
func TestConcurrentUse(t *testing.T) {
	const workers, rounds = 8, 20
	d := device(t)
	b := block(t, workers*4096)
	buf, k := imported(t, d, b), kernel(t, d, Scale())
	var all sync.WaitGroup
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			line, err := d.NewTimeline(0)
			if err != nil {
				t.Error(err)
				return
			}
			r := buf.Range(w*4096, 4096)
			for i := range rounds {
				err := d.Submit(t.Context(), []Point{{line, uint64(i)}}, []Point{{line, uint64(i + 1)}}, Dispatch{k,
					[]Range{r, r}, push(1024, float32(1), float32(1)), [3]int{16, 1, 1}})
				if err != nil {
					t.Error(err)
					return
				}
			}
			if err := line.Wait(t.Context(), rounds); err != nil {
				t.Error(err)
			}
			if err := line.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	for i, word := range words(b.Bytes()) {
		require.EqualValues(t, 0x4d004d00, word, "20 in fp16, word %d", i)
	}
}

// A caller that sees the signal of work can close its Buffer, also when the driver has not yet returned from
// accepting the work.
func TestEndedWorkHoldsNothing(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	d := device(t, replaced("vkQueueSubmit", func(real function, args []uintptr) result {
		r := real(args...)
		close(entered)
		<-release
		return r
	}))
	buf, err := d.NewBuffer(t.Context(), 64)
	require.NoError(t, err)
	done, err := d.NewTimeline(0)
	require.NoError(t, err)
	accepted := make(chan error)
	go func() { accepted <- d.Submit(context.Background(), nil, []Point{{done, 1}}, Fill{buf.Range(0, 64), 7}) }()
	<-entered
	require.NoError(t, done.Wait(t.Context(), 1))
	require.EqualValues(t, 7, buf.Bytes()[0])
	require.NoError(t, buf.Close())
	close(release)
	require.NoError(t, <-accepted)
}
