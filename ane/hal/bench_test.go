package hal_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/effort"
)

// BenchmarkExecute: an empty submission with one wait and one signal, from the host's signal to the
// host's wait, beside its floor: a goroutine that receives from one channel and sends to another.
func BenchmarkExecute(b *testing.B) {
	ctx := context.Background()
	b.Run("floor", func(b *testing.B) {
		in, out := make(chan uint64, 1), make(chan uint64, 1)
		go func() {
			for v := range in {
				out <- v
			}
			close(out)
		}()
		b.ReportAllocs()
		for i := range uint64(b.N) {
			in <- i
			<-out
		}
		close(in)
		<-out
	})
	for name, late := range map[string]bool{"reached": false, "pending": true} {
		b.Run(name, func(b *testing.B) {
			d := newDevice(b)
			q, from, to := d.Queue(), hal.NewSemaphore(0), hal.NewSemaphore(0)
			waits, signals := []hal.Point{{from, 0}}, []hal.Point{{to, 0}}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range uint64(b.N) {
				waits[0].Value, signals[0].Value = i+1, i+1
				if !late {
					_ = from.Signal(i + 1)
				}
				if err := q.Execute(ctx, waits, signals); err != nil {
					b.Fatal(err)
				}
				if late {
					_ = from.Signal(i + 1)
				}
				if err := to.Wait(ctx, i+1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDispatches: 1,000 dispatches in one command buffer, beside 1,000 evaluations of the bare Request. The two
// take turns, and the least time of each counts.
func BenchmarkDispatches(b *testing.B) {
	const n = 1000
	d := newDevice(b)
	scale := prepare(b, d, scaleText(1))
	x, y := newBuffer(b, d, 64), newBuffer(b, d, 64)
	c := record(b, d, hal.Reusable, func(c *hal.CommandBuffer) {
		for range n {
			c.Dispatch(scale, map[string]hal.Range{"x": x.Range(0, 64)}, map[string]hal.Range{"y": y.Range(0, 64)})
		}
	})
	s, v := hal.NewSemaphore(0), uint64(0)
	least := interleaved(b, bareChain(b, scaleText(1), n), func() {
		v++
		require.NoError(b, d.Queue().Execute(context.Background(), nil, []hal.Point{{s, v}}, c))
		require.NoError(b, s.Wait(context.Background(), v))
	})
	b.ReportMetric(float64(least[1])/float64(least[0]), "buffer/floor")
	b.ReportMetric(float64(least[0])/n, "floor-ns/dispatch")
}

// interleaved runs functions in turns and returns the least time of each.
func interleaved(b *testing.B, runs ...func()) []time.Duration {
	least := make([]time.Duration, len(runs))
	for b.Loop() {
		for i, run := range runs {
			start := time.Now()
			run()
			if took := time.Since(start); least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return least
}

const chainText = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 96, 96]> x) {
        tensor<fp16, [1, 1, 96, 96]> y = matmul(
            x = x, y = x, transpose_x = bool(false), transpose_y = bool(false))[name = string("y")];
    } -> (y);
}`

// BenchmarkOverlap: two chains of dispatches on two engines, one after the other and at once. Each engine is held to
// one goroutine, as separate devices are. The floor is two chains of bare Requests of such engines, in two goroutines,
// so that both figures have what the machine's processors, memory and other programs take. The four runs take turns,
// and the least time of each counts. Run it with -cpu 1,2: with 1 no overlap is possible.
func BenchmarkOverlap(b *testing.B) {
	const steps = 20
	ctx := context.Background()
	var chains []*hal.CommandBuffer
	var devices []*hal.Device
	var bare []func()
	for range 2 {
		own, err := engine.Open(ctx, engine.Soft, engine.AllowOffsets(), engine.Workers(1))
		require.NoError(b, err)
		d := deviceOn(b, own)
		e := prepare(b, d, chainText)
		n := e.Inputs()[0].Bytes()
		x, y := newBuffer(b, d, n), newBuffer(b, d, n)
		devices = append(devices, d)
		chains = append(chains, record(b, d, hal.Reusable, func(c *hal.CommandBuffer) {
			for i := range steps {
				from, to := x, y
				if i%2 == 1 {
					from, to = y, x
				}
				c.Dispatch(e, map[string]hal.Range{"x": from.Range(0, n)}, map[string]hal.Range{"y": to.Range(0, n)})
			}
		}))
		bare = append(bare, bareChain(b, chainText, steps))
	}
	s, u, v := hal.NewSemaphore(0), hal.NewSemaphore(0), uint64(0)
	submit := func(overlap bool) {
		v++
		var waits []hal.Point
		if !overlap {
			waits = []hal.Point{{s, v}}
		}
		require.NoError(b, devices[1].Queue().Execute(ctx, waits, []hal.Point{{u, v}}, chains[1]))
		require.NoError(b, devices[0].Queue().Execute(ctx, nil, []hal.Point{{s, v}}, chains[0]))
		require.NoError(b, hal.WaitAll(ctx, hal.Point{Semaphore: s, Value: v}, hal.Point{Semaphore: u, Value: v}))
	}
	least := interleaved(b,
		func() { bare[0](); bare[1]() },
		func() {
			var all sync.WaitGroup
			all.Go(bare[0])
			all.Go(bare[1])
			all.Wait()
		},
		func() { submit(false) },
		func() { submit(true) })
	b.ReportMetric(float64(least[1])/float64(least[0]), "floor-overlap/sum")
	b.ReportMetric(float64(least[3])/float64(least[2]), "overlap/sum")
	b.ReportMetric(float64(least[2])/float64(least[0]), "sum/floor-sum")
}

// bareChain returns a function that evaluates one Request of a program on an engine of its own so many times.
func bareChain(b *testing.B, text string, steps int) func() {
	ctx := context.Background()
	own, err := engine.Open(ctx, engine.Soft, engine.Workers(1))
	require.NoError(b, err)
	m, err := own.Compile(ctx, ane.Source{Text: []byte(text)})
	require.NoError(b, err)
	r, err := m.NewRequest(ctx)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, errors.Join(r.Close(), m.Close(ctx), own.Close())) })
	return func() {
		for range steps {
			if _, err := r.Evaluate(ctx); err != nil {
				b.Error(err)
				return
			}
		}
	}
}

// TestAllocationsOfExecute: an empty submission with one wait and one signal allocates once, or not at
// all if its wait is reached.
func TestAllocationsOfExecute(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector allocates")
	}
	d := newDevice(t)
	ctx := context.Background()
	from, to := hal.NewSemaphore(0), hal.NewSemaphore(0)
	waits, signals := []hal.Point{{from, 0}}, []hal.Point{{to, 0}}
	v := uint64(0)
	for late, want := range map[bool]float64{false: 0, true: 1} {
		got := testing.AllocsPerRun(100, func() {
			v++
			waits[0].Value, signals[0].Value = v, v
			if !late {
				_ = from.Signal(v)
			}
			_ = d.Queue().Execute(ctx, waits, signals)
			if late {
				_ = from.Signal(v)
			}
		})
		require.LessOrEqual(t, got, want, "pending: %v", late)
	}
	have, err := to.Value()
	require.NoError(t, err)
	require.Equal(t, v, have)
}
