package soft

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/unimem"
)

// A program and its instances have one room until two run at once, and keep what they have until the last Unload.
func TestRoomsAreAsManyAsRunAtOnce(t *testing.T) {
	p := &plan.Plan{Scratch: 4096, Work: 1024}
	var s rooms
	for range 3 {
		require.NoError(t, s.load(p, 1))
	}
	first, err := s.take(nil, p, 1)
	require.NoError(t, err)
	require.Len(t, first.scratch, 4096)
	s.give(first)
	second, err := s.take(nil, p, 1)
	require.NoError(t, err)
	require.Same(t, first, second)
	third, err := s.take(first, p, 2)
	require.NoError(t, err)
	require.NotSame(t, first, third)
	require.Len(t, third.work, 2)
	s.give(third)
	s.give(first)
	again, err := s.take(third, p, 1)
	require.NoError(t, err)
	require.Same(t, third, again, "to which it is bound")
	changes := first.changes
	again, err = s.take(first, p, 3)
	require.NoError(t, err)
	require.Same(t, first, again)
	require.Greater(t, first.changes, changes, "more workspaces are other memory")
	s.give(first)
	s.give(third)
	for range 2 {
		require.NoError(t, s.unload())
		require.Len(t, s.all, 2)
	}
	require.NoError(t, s.unload())
	require.Empty(t, s.all)
	_, err = first.tapes[0].Take(1, 1)
	require.ErrorIs(t, err, unimem.ErrClosed)
}

// Instances share memory of runs: those that run at once compute what each computes alone.
func TestInstancesRunAtOnce(t *testing.T) {
	ctx := t.Context()
	weights := func(v byte) ane.Files {
		var w blob.Writer
		_, err := w.Add(mil.FP16, bytes.Repeat([]byte{v, 0x3c}, 33), 0)
		require.NoError(t, err)
		return ane.Files{"w.bin": w.Bytes()}
	}
	d, err := ane.Open(New(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	base, err := d.Compile(ctx, ane.Source{Weights: weights(0), Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [40, 33]> x) {
tensor<fp16, [33]> w = const()[val = tensor<fp16, [33]>(BLOBFILE(path = string("w.bin"), offset = uint64(64)))];
tensor<fp16, [40, 33]> a = softmax(x = x, axis = int32(1));
tensor<fp16, [40, 33]> b = add(x = a, y = w);
tensor<fp16, [33, 40]> y = transpose(x = b, perm = tensor<int32, [2]>([1, 0]));
} -> (y);
}`)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, base.Close(context.Background())) })
	var wait sync.WaitGroup
	defer wait.Wait()
	for i := range 4 {
		m, err := base.WithWeights(ctx, weights(byte(i)))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
		require.NoError(t, m.Load(ctx))
		r, err := m.NewRequest(ctx, unimem.OnHeap())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, r.Close()) })
		_, err = r.Evaluate(ctx)
		require.NoError(t, err)
		y := r.Output("y").Bytes()
		want := bytes.Clone(y)
		require.NotZero(t, want[0])
		wait.Go(func() {
			for range 50 {
				clear(y)
				if _, err := r.Evaluate(ctx); err != nil || !bytes.Equal(want, y) {
					t.Errorf("instance %d: other results: %v", i, err)
					return
				}
			}
		})
	}
}
