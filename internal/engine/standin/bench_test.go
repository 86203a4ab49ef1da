package standin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
)

// BenchmarkEvaluate is a warm evaluation as the framework requests it: find the
// request and run it. The floor is only the run.
func BenchmarkEvaluate(b *testing.B) {
	s, _, h := compiled(b, 3, addition)
	in, out := []uint32{1, 2}, []uint32{3}
	require.Equal(b, done, s.evaluate(h, 0, 1, in, out))
	b.ReportAllocs()
	for b.Loop() {
		if s.evaluate(h, 0, 1, in, out) != done {
			b.Fatal("failed")
		}
	}
}

func BenchmarkEvaluateFloor(b *testing.B) {
	m := newFake(b, 3)
	exec, err := soft.New().Compile(b.Context(), ane.Source{Text: []byte(addition)})
	require.NoError(b, err)
	require.NoError(b, exec.Load(b.Context()))
	var tensors []*ane.Tensor
	for i, l := range append(exec.Inputs(), exec.Outputs()...) {
		x, err := ane.OnBlock(m.blocks[uint32(i+1)], l)
		require.NoError(b, err)
		tensors = append(tensors, x)
	}
	run, err := exec.Prepare(tensors[:2], tensors[2:])
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if err := run.Evaluate(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, run.Close())
	require.NoError(b, exec.Unload(b.Context()))
}
