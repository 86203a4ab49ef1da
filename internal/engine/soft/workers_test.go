package soft_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
)

// shared is a program whose steps several goroutines share, with and without a workspace.
const shared = `program(1.3)
{
func main<ios18>(tensor<fp16, [256, 1024]> x, tensor<fp16, [1024, 256]> w) {
tensor<fp16, [256, 256]> a = matmul(x = x, y = w);
tensor<fp16, [256, 256]> b = softmax(x = a);
tensor<fp16, [256, 1024]> c = matmul(x = b, y = w, transpose_y = bool(true));
tensor<fp16, [256, 1024]> y = add(x = c, y = x);
} -> (y);
}`

// skipEmulated skips a test of what does not depend on the processor.
func skipEmulated(t *testing.T, what string) {
	t.Helper()
	if leaktest.Emulated() {
		t.Skip(what + " not depend on the processor; run the test without an emulator")
	}
}

// TestEvaluateInParallelAllocatesNothing counts by itself, because testing.AllocsPerRun has one processor.
func TestEvaluateInParallelAllocatesNothing(t *testing.T) {
	skipEmulated(t, "allocations do")
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	b := open(t, shared)
	r, _ := b.bind(0.25)
	run := func(n int) uint64 {
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		for range n {
			if _, err := b.model.Evaluate(context.Background(), r); err != nil {
				t.Error(err)
			}
		}
		runtime.ReadMemStats(&end)
		return end.Mallocs - start.Mallocs
	}
	run(20) // makes the goroutines, which later runs use again
	require.Less(t, run(50), uint64(250), "one allocation for each goroutine would be 600")
}

// TestWorkersFollowTheProcessors evaluates one loaded program with several numbers of processors.
func TestWorkersFollowTheProcessors(t *testing.T) {
	skipEmulated(t, "workers do")
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	b := open(t, shared)
	r, tensors := b.bind(0.25)
	want := ""
	for i, n := range []int{1, 4, 2, 20, 1} {
		runtime.GOMAXPROCS(n)
		_, err := b.model.Evaluate(context.Background(), r)
		require.NoError(t, err)
		y := make([]byte, tensors["y"].Layout().PackedBytes())
		_, err = tensors["y"].Read(y)
		require.NoError(t, err)
		if i == 0 {
			want = string(y)
		}
		require.Equal(t, want, string(y), "%d processors", n)
	}
}
