package haltest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.Main(m)
}

func open(name string) Open {
	return func(ctx context.Context) (*ane.Device, error) {
		if name == engine.Broker {
			return engine.Open(ctx, name, engine.BrokerPath(""))
		}
		return engine.Open(ctx, name)
	}
}

// engines are the engines of this machine, by name.
func engines(t *testing.T) (names []string) {
	for _, s := range engine.Probe() {
		switch {
		case s.Name == engine.Broker:
			d, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath(""))
			if err != nil {
				t.Log(s.Name, err)
				continue
			}
			require.NoError(t, d.Close())
			names = append(names, s.Name)
		case s.Available && s.Name != engine.Auto:
			names = append(names, s.Name)
		default:
			t.Log(s.Name, s.Reason)
		}
	}
	return names
}

func TestConformance(t *testing.T) {
	leaktest.SkipEmulated(t)
	for _, name := range engines(t) {
		t.Run(name, func(t *testing.T) { Run(t, open(name), Direct()) })
	}
}

// A repeated name would hide a case from Failures.
func TestNamesAreUnique(t *testing.T) {
	names := Names()
	slices.Sort(names)
	require.Len(t, slices.Compact(slices.Clone(names)), len(names))
}

func TestRandom(t *testing.T) {
	effort.SkipShort(t)
	leaktest.SkipEmulated(t)
	operations := effort.Rounds(1_000_000, 20_000)
	for _, name := range engines(t) {
		n := operations
		if name != engine.Soft {
			n /= 10
		}
		require.NoError(t, Random(context.Background(), open(name), Direct(), 1, n), name)
	}
}

// broken are implementations that each break one call, with a case that notices.
func broken() map[string]struct {
	notices string
	change  func(c *Calls)
} {
	type b = struct {
		notices string
		change  func(c *Calls)
	}
	return map[string]b{
		"initial value is lost": {"semaphore/NormalSignaling", func(c *Calls) {
			c.NewSemaphore = func(uint64) *hal.Semaphore { return hal.NewSemaphore(0) }
		}},
		"values go backwards": {"semaphore/Backwards", func(c *Calls) {
			c.Signal = func(s *hal.Semaphore, v uint64) error { _ = s.Signal(v); return nil }
		}},
		"failures have no cause": {"semaphore/Failure", func(c *Calls) {
			c.Fail = func(s *hal.Semaphore, _ error) { s.Fail(nil) }
		}},
		"an ended context wins over a reached value": {"semaphore/WaitAlreadySignaled", func(c *Calls) {
			c.Wait = func(s *hal.Semaphore, ctx context.Context, v uint64) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return s.Wait(ctx, v)
			}
		}},
		"WaitAll waits for one": {"semaphore/WaitAll", func(c *Calls) {
			c.WaitAll = func(ctx context.Context, p ...hal.Point) error { _, err := hal.WaitAny(ctx, p...); return err }
		}},
		"WaitAny waits for all": {"semaphore/WaitAny", func(c *Calls) {
			c.WaitAny = func(ctx context.Context, p ...hal.Point) (int, error) { return 0, hal.WaitAll(ctx, p...) }
		}},
		"signals are one short": {"semaphore_thread/ManyWaiters", func(c *Calls) {
			c.Signal = func(s *hal.Semaphore, v uint64) error { return s.Signal(v - 1) }
		}},
		"submissions do not wait": {"semaphore_submission/SubmitWithWait", func(c *Calls) {
			c.Execute = func(q *hal.Queue, ctx context.Context, _, s []hal.Point, b ...*hal.CommandBuffer) error {
				return q.Execute(ctx, nil, s, b...)
			}
		}},
		"submissions wait for the first point only": {"semaphore_submission/SubmitWithMultipleSemaphores",
			func(c *Calls) {
				c.Execute = func(q *hal.Queue, ctx context.Context, w, s []hal.Point, b ...*hal.CommandBuffer) error {
					return q.Execute(ctx, w[:min(1, len(w))], s, b...)
				}
			}},
		"contexts do not reach submissions": {"semaphore_submission/ContextEnds", func(c *Calls) {
			c.Execute = func(q *hal.Queue, _ context.Context, w, s []hal.Point, b ...*hal.CommandBuffer) error {
				return q.Execute(context.Background(), w, s, b...)
			}
		}},
		"signals come early": {"queue_transfer/FillCopyUpdate", func(c *Calls) {
			c.Execute = func(q *hal.Queue, ctx context.Context, w, s []hal.Point, b ...*hal.CommandBuffer) error {
				if err := q.Execute(ctx, w, s); err != nil {
					return err
				}
				return q.Execute(ctx, append(w[:len(w):len(w)], hal.Point{Semaphore: hal.NewSemaphore(0), Value: 1}),
					nil, b...)
			}
		}},
		"functions run twice": {"queue_host_call/Once", func(c *Calls) {
			c.OnReach = func(s *hal.Semaphore, v uint64, f func(error)) func() bool {
				s.OnReach(v, f)
				return s.OnReach(v, f)
			}
		}},
		"Alloca allocates at once": {"queue_alloca/AllocaDeallocaCycle", func(c *Calls) {
			c.Alloca = func(q *hal.Queue, ctx context.Context, w, s []hal.Point, n int) (*hal.Buffer, error) {
				reached := hal.NewSemaphore(0)
				b, err := q.Alloca(ctx, nil, []hal.Point{{Semaphore: reached, Value: 1}}, n)
				if err == nil {
					_ = reached.Wait(ctx, 1)
					err = q.Execute(ctx, w, s)
				}
				return b, err
			}
		}},
		"Dealloca frees nothing": {"queue_alloca/AllocaDeallocaCycle", func(c *Calls) {
			c.Dealloca = func(q *hal.Queue, ctx context.Context, w, s []hal.Point, _ *hal.Buffer) error {
				return q.Execute(ctx, w, s)
			}
		}},
		"patterns have one byte": {"command_buffer_fill/PatternsOffsetsAndLengths", func(c *Calls) {
			c.Fill = func(b *hal.CommandBuffer, dst hal.Range, p []byte) { b.Fill(dst, p[:min(1, len(p))]) }
		}},
		"patterns begin at multiples of their length": {"command_buffer_fill/PatternsOffsetsAndLengths",
			func(c *Calls) {
				c.Fill = func(b *hal.CommandBuffer, dst hal.Range, p []byte) {
					if n := len(p); n > 0 && dst.Offset > 0 {
						k := dst.Offset % n
						p = append(append([]byte{}, p[k:]...), p[:k]...)
					}
					b.Fill(dst, p)
				}
			}},
		"fills round to 4 bytes": {"command_buffer_fill/PatternsOffsetsAndLengths", func(c *Calls) {
			c.Fill = func(b *hal.CommandBuffer, dst hal.Range, p []byte) { dst.Length &^= 3; b.Fill(dst, p) }
		}},
		"copies read too late": {"command_buffer_copy/EachReadsWhatWasWritten", func(c *Calls) {
			late := map[*hal.CommandBuffer][]func(){}
			c.Copy = func(b *hal.CommandBuffer, dst, src hal.Range) {
				late[b] = append(late[b], func() { b.Copy(dst, src) })
			}
			c.End = func(b *hal.CommandBuffer) error {
				for _, f := range late[b] {
					f()
				}
				return b.End()
			}
		}},
		"updates are lost": {"command_buffer_update/Captures", func(c *Calls) {
			c.Update = func(*hal.CommandBuffer, hal.Range, []byte) {}
		}},
		"dispatches are lost": {"command_buffer_dispatch/Bindings", func(c *Calls) {
			c.Dispatch = func(*hal.CommandBuffer, *hal.Executable, map[string]hal.Range, map[string]hal.Range) {}
		}},
		"End refuses nothing": {"command_buffer/Refused", func(c *Calls) {
			c.End = func(b *hal.CommandBuffer) error { _ = b.End(); return nil }
		}},
		"memory is copied": {"buffer_mapping/InPlace", func(c *Calls) {
			c.Bytes = func(b *hal.Buffer) []byte { return append([]byte(nil), b.Bytes()...) }
		}},
		"imports are copies": {"buffer_mapping/Import", func(c *Calls) {
			c.Import = func(d *hal.Device, b *unimem.Block) (*hal.Buffer, error) { return d.NewBuffer(b.Size()) }
		}},
		"memory in use is closed": {"buffer_mapping/CloseWhilePending", func(c *Calls) {
			c.CloseBuffer = func(b *hal.Buffer) error { _ = b.Close(); return nil }
		}},
		"programs are never found": {"executable_cache/CompiledOnce", func(c *Calls) {
			n := 0
			c.Prepare = func(d *hal.Device, ctx context.Context, src ane.Source) (*hal.Executable, error) {
				n++
				src.Text = append([]byte(strings.Repeat(" ", n)), src.Text...)
				return d.Prepare(ctx, src)
			}
		}},
		"programs stay usable": {"executable/Close", func(c *Calls) {
			c.CloseExecutable = func(*hal.Executable, context.Context) error { return nil }
		}},
		"Close refuses nothing": {"device/Close", func(c *Calls) {
			c.CloseDevice = func(*hal.Device, context.Context) error { return nil }
		}},
	}
}

// Every broken implementation fails the case that is about the call.
func TestBrokenImplementationsFail(t *testing.T) {
	limit := time.Second
	if !effort.Full() {
		limit /= 10 // a case that hangs fails then
	}
	for name, b := range broken() {
		t.Run(name, func(t *testing.T) {
			calls := Direct()
			b.change(&calls)
			var failed map[string]error
			for range 100 { // on a busy machine a later try may notice the fault
				if failed = Failures(open(engine.Soft), calls, limit, b.notices); len(failed) > 0 {
					break
				}
			}
			require.Contains(t, failed, b.notices)
		})
	}
	require.Empty(t, Failures(open(engine.Soft), Direct(), time.Minute, Names()...))
}

// The random test notices what changes bytes.
func TestRandomNotices(t *testing.T) {
	all := broken()
	for _, name := range []string{"patterns have one byte", "fills round to 4 bytes", "copies read too late",
		"updates are lost", "dispatches are lost", "imports are copies", "memory is copied",
		"submissions do not wait"} {
		calls := Direct()
		all[name].change(&calls)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := Random(ctx, open(engine.Soft), calls, 2, 20_000)
		cancel()
		if name == "memory is copied" {
			require.NoError(t, err, "reading a copy shows the same bytes")
			continue
		}
		require.Error(t, err, name)
	}
}
