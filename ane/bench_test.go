package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

func TestEvaluateAllocatesNothing(t *testing.T) {
	m := model(t, adder(t))
	r := request(t, m)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if _, err := m.Evaluate(background, r); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestElementsAllocateNothing(t *testing.T) {
	x := fp16On(t, 2, 3, 4, 5)
	row := make([]float32, 120)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = x.Set(1, 1, 2, 3, 4)
		_, _ = x.At(1, 2, 3, 4)
		_, _ = x.Row(3)
		_ = x.Bytes()
	}))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = x.WriteFloat32(row) }), 2.0,
		"for the whole tensor")
}

// BenchmarkEvaluateNop is the cost of Model.Evaluate without the engine's work;
// its floor is a direct call of the engine.
func BenchmarkEvaluateNop(b *testing.B) {
	m := model(b, adder(b))
	r := request(b, m)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Evaluate(background, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvaluateNopFloor(b *testing.B) {
	var run ane.Invocation = fakeRun{adder(b)}
	b.ReportAllocs()
	for b.Loop() {
		if err := run.Evaluate(background); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvaluateNopParallel shares one model among goroutines, each with its own
// request; its floor is direct calls of the engine.
func BenchmarkEvaluateNopParallel(b *testing.B) {
	m := model(b, adder(b))
	b.RunParallel(func(pb *testing.PB) {
		in, out := tensors(b, m.Inputs()), tensors(b, m.Outputs())
		r, err := m.Bind(in, out)
		if err != nil {
			b.Error(err)
			return
		}
		for pb.Next() {
			if _, err := m.Evaluate(background, r); err != nil {
				b.Error(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
}

func BenchmarkEvaluateNopParallelFloor(b *testing.B) {
	f := adder(b)
	b.RunParallel(func(pb *testing.PB) {
		var run ane.Invocation = fakeRun{f}
		for pb.Next() {
			if err := run.Evaluate(background); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkWritePadded copies 1 Mi halves into padded rows; its floor is one copy of the
// same bytes.
func BenchmarkWritePadded(b *testing.B) {
	x := onBlock(b, newLayout(b, "x", mil.FP16, 1, 64, 129, 127))
	src := make([]byte, x.Layout().PackedBytes())
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := x.Write(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWritePaddedFloor(b *testing.B) {
	x := onBlock(b, newLayout(b, "x", mil.FP16, 1, 64, 129, 127))
	src := make([]byte, x.Layout().PackedBytes())
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		copy(x.Bytes(), src)
	}
}
