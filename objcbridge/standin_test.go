package objcbridge_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// rig is y = x + n over [1, 4, 1, 32] through the real bridge and the stand-in framework.
type rig struct {
	f       *standin.Framework
	b       *objcbridge.Bridge
	p       *objcbridge.Program
	x, y    *objcbridge.Surface
	r       *objcbridge.Request
	in, out []byte
}

var programs atomic.Int64 // makes every program different, so that none is in the cache

func newRig(tb testing.TB) *rig {
	tb.Helper()
	f, err := standin.Start(standin.Options{Dir: bridgetest.Build(tb)})
	require.NoError(tb, err)
	g := &rig{f: f}
	c := f.Config()
	require.NoError(tb, c.Open())
	g.b, err = objcbridge.Open(c.Bridge)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		f.ClearFaults()
		require.NoError(tb, g.b.Close())
		require.NoError(tb, c.Close())
		require.Empty(tb, await.Left(f.Leftovers), "its thread releases a run shortly after the answer")
	})
	g.p = g.program(tb)
	g.x, g.in = g.surface(tb)
	g.y, g.out = g.surface(tb)
	require.NoError(tb, g.p.Load(driverabi.QoSDefault))
	g.r, err = g.p.NewRequest(0, []objcbridge.Binding{{Surface: g.x, Bytes: 4 * 64}},
		[]objcbridge.Binding{{Surface: g.y, Bytes: 4 * 64}})
	require.NoError(tb, err)
	tb.Cleanup(g.r.Close)
	return g
}

// text is a new program.
func (g *rig) text() []byte {
	return fmt.Appendf(nil, `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4, 1, 32]> x) {
        tensor<fp16, [1, 4, 1, 32]> y = add(x = x, y = fp16(%d))[name = string("y")];
    } -> (y);
}`, programs.Add(1))
}

// program compiles a new program.
func (g *rig) program(tb testing.TB) *objcbridge.Program {
	p, err := g.b.NewProgram(g.text(), nil)
	require.NoError(tb, err)
	tb.Cleanup(p.Close)
	cached, err := p.Compile(driverabi.QoSDefault)
	require.NoError(tb, err)
	require.False(tb, cached)
	return p
}

func (g *rig) surface(tb testing.TB) (*objcbridge.Surface, []byte) {
	block, err := unimem.Open(4*64, g.f.Surfaces())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, block.Close()) })
	s, err := g.b.WrapSurface(block.Handle(), 0)
	require.NoError(tb, err)
	tb.Cleanup(s.Close)
	return s, block.Bytes()
}

func TestStandInInspect(t *testing.T) {
	g := newRig(t)
	report, err := objcbridge.Inspect(g.f.Config().Bridge)
	require.NoError(t, err)
	require.NotEmpty(t, report.Library)
	require.NotEmpty(t, report.Checks)
	for _, c := range report.Checks {
		if c.Required {
			require.Equal(t, "ok", c.Status.String(), "%+v", c)
			require.Equal(t, c.Expected, c.Found)
		}
		require.NotEmpty(t, c.NeededFor)
	}
	require.NotNil(t, report.Device)
	require.Equal(t, objcbridge.AnswerYes, report.Device.HasANE)
	require.Positive(t, report.Usage.Compiles)
	require.EqualValues(t, 1, report.Usage.Programs)
}

func TestStandInEvaluate(t *testing.T) {
	g := newRig(t)
	raw, err := g.p.Attributes()
	require.NoError(t, err)
	tree, err := plist.Read(raw)
	require.NoError(t, err)
	live := tree.(plist.Dict).Array("NetworkStatusList")[0].(plist.Dict).Array("LiveInputList")
	require.Len(t, live, 1)
	for key, want := range map[string]any{"Symbol": "x", "Type": "Float16", "Channels": int64(4), "Width": int64(32),
		"RowStride": int64(64), "PlaneStride": int64(64), "DepthStride": int64(256), "BatchStride": int64(256)} {
		got, _ := live[0].(plist.Dict).Get(key)
		require.Equal(t, want, got, key)
	}
	facts, err := g.p.Inspect()
	require.NoError(t, err)
	require.True(t, facts.Loaded)
	require.NotEmpty(t, facts.Identity)
	require.Equal(t, 127, facts.QueueDepth)

	require.NoError(t, g.r.Evaluate(g.p, driverabi.QoSDefault))
	require.NotEqual(t, make([]byte, 256), g.out[:256], "0 + n differs from 0")
	require.Equal(t, make([]byte, 256), g.in[:256])

	require.NoError(t, g.p.Unload(driverabi.QoSDefault))
	var e *objcbridge.Error
	require.ErrorAs(t, g.r.Evaluate(g.p, driverabi.QoSDefault), &e)
	require.Equal(t, objcbridge.ReasonState, e.Reason)
	require.NoError(t, g.p.Load(driverabi.QoSDefault), "the program is still cached")
	require.NoError(t, g.r.Evaluate(g.p, driverabi.QoSDefault))
}

const evaluate = "evaluateWithQoS:options:request:error:"

func TestStandInFaults(t *testing.T) {
	g := newRig(t)
	for _, c := range []struct {
		fault   standin.FaultKind
		value   int64
		kind    string
		meaning string
	}{
		{standin.Exception, 0, "exception", ""},
		{standin.No, 0, "NO without an error", ""},
		{standin.NoError, 3, "NSError", "timed out in the framework or its broker"},
		{standin.YesError, 8, "YES together with an error", "the run failed"},
	} {
		t.Run(c.fault.String(), func(t *testing.T) {
			require.NoError(t, g.f.Fault(evaluate, c.fault, 1, c.value))
			err := g.r.Evaluate(g.p, driverabi.QoSDefault)
			var e *objcbridge.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, objcbridge.StageEvaluate, e.Stage)
			require.Equal(t, c.kind, e.Kind.String(), err)
			require.ErrorContains(t, err, c.meaning)
			if c.kind == "exception" {
				require.Equal(t, "NSInternalInconsistencyException", e.Exception)
			}
			if c.value != 0 {
				require.Equal(t, c.value, e.Code)
				require.Equal(t, objcbridge.DomainEngine, e.Domain)
			}
			require.NoError(t, g.r.Evaluate(g.p, driverabi.QoSDefault), "the next run works")
		})
	}
}

func TestStandInConcurrently(t *testing.T) {
	g := newRig(t)
	var wg sync.WaitGroup
	for range 64 {
		r, err := g.p.NewRequest(0, []objcbridge.Binding{{Surface: g.x, Bytes: 4 * 64}},
			[]objcbridge.Binding{{Surface: g.y, Bytes: 4 * 64}})
		require.NoError(t, err)
		wg.Go(func() {
			defer r.Close()
			for range 50 {
				if err := r.Evaluate(g.p, driverabi.QoSDefault); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkEntry is one call of the real bridge: an autorelease pool, a @try, and one message,
// purgeCompiledModel of a program that is not in the cache.
func BenchmarkEntry(b *testing.B) {
	g := newRig(b)
	require.NoError(b, g.p.Purge())
	b.ReportAllocs()
	for b.Loop() {
		if err := g.p.Purge(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEntryFloor is the plain call of a C function that does nothing.
func BenchmarkEntryFloor(b *testing.B) {
	nothing := objcbridge.Nothing(b)
	b.ReportAllocs()
	for b.Loop() {
		nothing()
	}
}
