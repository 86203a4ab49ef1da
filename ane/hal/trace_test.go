package hal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
)

// traced is an event of a trace, read as a viewer does.
type traced struct {
	Name, Cat, Ph string
	Ts            *float64
	Dur           *float64
	Pid, Tid      *int
	ID            int
	Args          map[string]any
}

// readTrace reads a trace and checks the rules of the format.
func readTrace(t *testing.T, d *hal.Device) []traced {
	t.Helper()
	var out bytes.Buffer
	n, err := d.Trace().WriteTo(&out)
	require.NoError(t, err)
	require.EqualValues(t, out.Len(), n)
	var file struct{ TraceEvents []traced }
	require.NoError(t, json.Unmarshal(out.Bytes(), &file))
	starts := map[int]traced{}
	for _, e := range file.TraceEvents {
		require.NotNil(t, e.Ts)
		require.NotNil(t, e.Pid)
		require.NotNil(t, e.Tid)
		require.Contains(t, []string{"X", "M", "C", "s", "f"}, e.Ph)
		require.Equal(t, e.Ph == "X", e.Dur != nil)
		if e.Ph == "s" {
			starts[e.ID] = e
		}
	}
	ends := 0
	for _, e := range file.TraceEvents {
		if e.Ph == "f" {
			s, ok := starts[e.ID]
			require.True(t, ok, "every f has its s")
			require.LessOrEqual(t, *s.Ts, *e.Ts)
			require.Equal(t, s.Name, e.Name)
			require.Equal(t, s.Cat, e.Cat)
			ends++
		}
	}
	require.Len(t, starts, ends, "every s has its f")
	return file.TraceEvents
}

func TestTrace(t *testing.T) {
	d := newDevice(t, hal.Tracing())
	ctx := context.Background()
	scale := prepare(t, d, scaleText(2))
	x := newBuffer(t, d, 64)
	s := hal.NewSemaphore(0)
	y, err := d.Queue().Alloca(ctx, []hal.Point{{s, 1}}, []hal.Point{{s, 2}}, 64)
	require.NoError(t, err)
	c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) {
		c.Fill(x.Range(0, 64), []byte{0, 60})
		c.Dispatch(scale, map[string]hal.Range{"x": x.Range(0, 64)}, map[string]hal.Range{"y": y.Range(0, 64)})
	})
	require.NoError(t, d.Queue().Execute(ctx, []hal.Point{{s, 2}}, []hal.Point{{s, 3}}, c))
	require.NoError(t, d.Queue().Dealloca(ctx, []hal.Point{{s, 3}}, []hal.Point{{s, 4}}, y))
	require.NoError(t, d.Queue().Execute(ctx, []hal.Point{{s, 4}}, []hal.Point{{s, 5}}))
	require.NoError(t, s.Signal(1))
	require.NoError(t, wait(t, s, 5))
	failed := hal.NewSemaphore(0)
	require.NoError(t, d.Queue().Execute(ended(), nil, []hal.Point{{failed, 1}}))
	require.Error(t, wait(t, failed, 1))
	count := map[string]int{}
	spans := map[string]traced{}
	for _, e := range readTrace(t, d) {
		count[e.Ph+" "+e.Cat]++
		if e.Ph == "X" {
			spans[e.Name] = e
		}
		if e.Ph == "X" && e.Args["error"] != nil {
			count["error"]++
		}
	}
	require.Equal(t, map[string]int{"X engine": 1, "X copies": 1, "X submissions": 5, "X waits": 4, "s timeline": 3,
		"f timeline": 3,
		"C memory":   3, "error": 1, "M ": count["M "]}, count)
	require.Contains(t, spans, "alloca 1")
	require.Contains(t, spans, "wait execute 2")
	inside, outside := spans["dispatch"], spans["execute 2"]
	require.LessOrEqual(t, *outside.Ts, *inside.Ts)
	require.LessOrEqual(t, *inside.Ts+*inside.Dur, *outside.Ts+*outside.Dur+0.001)
	require.Empty(t, readTrace(t, newDevice(t)), "without Tracing")
}
