package membench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/unimem"
)

func TestCasesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range membench.Cases() {
		require.NotEmpty(t, c.Operation)
		require.NotEmpty(t, c.Target)
		require.NotNil(t, c.Run)
		require.NotNil(t, c.Floor)
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
	}
}

// quick is a fast plan, without the cases that need a gigabyte.
func quick() membench.Plan {
	var small []membench.Case
	for _, c := range membench.Cases() {
		if c.Bytes == 0 {
			small = append(small, c)
		}
	}
	return membench.Plan{Cases: small, Sizes: []int{4 << 10, 1 << 20}, Rounds: 3, Time: time.Millisecond}
}

func TestMeasure(t *testing.T) {
	before := unimem.Live()
	benchtime := flag.Lookup("test.benchtime").Value.String()
	p := quick()
	var names []string
	p.Progress = func(s string) { names = append(names, s) }
	r, err := membench.Measure(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, before, unimem.Live())
	require.Equal(t, benchtime, flag.Lookup("test.benchtime").Value.String())
	require.Len(t, names, len(p.Cases)+len(p.Sizes))

	require.Len(t, r.Operations, len(p.Cases))
	for i, o := range r.Operations {
		require.Equal(t, p.Cases[i].Name, o.Name)
		require.Empty(t, o.Skipped)
		figure(t, o.Measured)
		if !strings.HasPrefix(o.Name, "BlockOpen") {
			require.Zero(t, o.Allocs, o.Name)
		}
	}
	require.Len(t, r.Sizes, 2)
	for i, s := range r.Sizes {
		require.Equal(t, p.Sizes[i], s.Bytes)
		for _, f := range []membench.Figure{s.Open, s.FirstTouch, s.Drop, s.Write, s.Read} {
			figure(t, f)
		}
	}

	var text bytes.Buffer
	require.NoError(t, r.Write(&text))
	for _, want := range []string{"Tape take", "Block open and close 256 MB", "4 KB", "1 MB", "GB/s"} {
		require.Contains(t, text.String(), want)
	}
	coded, err := json.Marshal(r)
	require.NoError(t, err)
	var back membench.Report
	require.NoError(t, json.Unmarshal(coded, &back))
	require.Equal(t, r, back)
}

func figure(t *testing.T, f membench.Figure) {
	t.Helper()
	require.Positive(t, f.Value)
	require.Positive(t, f.Floor)
	want := f.Value / f.Floor
	if f.Unit == "GB/s" {
		want = 1 / want
	}
	require.InEpsilon(t, want, f.Ratio, 1e-9)
}

func TestTargets(t *testing.T) {
	sleep := func(d time.Duration) func(*testing.B) {
		return func(b *testing.B) {
			for range b.N {
				time.Sleep(d)
			}
		}
	}
	for _, c := range []struct {
		ratio, ns float64
		within    bool
	}{{0, 0, true}, {1e9, 1e12, true}, {1e-9, 0, false}, {0, 1, false}} {
		p := quick()
		p.Sizes = []int{}
		p.Cases = []membench.Case{{Name: "Sleep", MaxRatio: c.ratio, MaxNs: c.ns,
			Run: sleep(time.Millisecond), Floor: sleep(time.Microsecond)}}
		r, err := membench.Measure(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, c.within, r.Operations[0].Within)
	}
}

func TestMeasureStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := quick()
	if !effort.Full() {
		p.Cases = p.Cases[:2]
	}
	p.Progress = func(s string) {
		if strings.Contains(s, "Block of") {
			cancel()
		}
	}
	_, err := membench.Measure(ctx, p)
	require.ErrorIs(t, err, context.Canceled)
}

func TestMeasureFailure(t *testing.T) {
	p := quick()
	p.Cases = []membench.Case{{Name: "Bad", Operation: "bad",
		Run: func(b *testing.B) { b.Fatal("no") }, Floor: func(*testing.B) {}}}
	_, err := membench.Measure(context.Background(), p)
	require.ErrorContains(t, err, "bad failed")

	p.Cases[0].Bytes = 1 << 60
	r, err := membench.Measure(context.Background(), p)
	require.NoError(t, err)
	require.Contains(t, r.Operations[0].Skipped, "needs")
}
