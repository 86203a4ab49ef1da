package apple_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// BenchmarkEvaluate measures the whole path: Go, bridge, framework, and the
// software engine below it. The cost of the path is the difference to the floor,
// the same run on the software engine alone.
func BenchmarkEvaluate(b *testing.B) {
	r := newRig(b, open(b), 1)
	evaluate(b, context.Background(), r.model, r.request)
}

// BenchmarkEvaluateFloor is the software engine without bridge and framework.
func BenchmarkEvaluateFloor(b *testing.B) {
	d, err := ane.Open(soft.New(), "")
	require.NoError(b, err)
	m, err := d.Compile(b.Context(), ane.Source{File: "add.mil", Text: text(1)})
	require.NoError(b, err)
	require.NoError(b, m.Load(b.Context()))
	tensor := func(l ane.Layout) *ane.Tensor {
		block, err := unimem.Open(l.Bytes())
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, block.Close()) })
		t, err := ane.OnBlock(block, l)
		require.NoError(b, err)
		return t
	}
	q, err := m.Bind(map[string]*ane.Tensor{"x": tensor(m.Inputs()[0])},
		map[string]*ane.Tensor{"y": tensor(m.Outputs()[0])})
	require.NoError(b, err)
	evaluate(b, context.Background(), m, q)
	require.NoError(b, q.Close())
	require.NoError(b, m.Close(context.Background()))
	require.NoError(b, d.Close())
}

// BenchmarkEvaluateDeadline is BenchmarkEvaluate with a context that can end: the
// run is in a goroutine, so that the caller can abandon it.
func BenchmarkEvaluateDeadline(b *testing.B) {
	r := newRig(b, open(b), 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	evaluate(b, ctx, r.model, r.request)
}

func evaluate(b *testing.B, ctx context.Context, m *ane.Model, q *ane.Request) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Evaluate(ctx, q); err != nil {
			b.Fatal(err)
		}
	}
}
