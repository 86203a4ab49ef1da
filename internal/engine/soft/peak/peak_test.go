package peak

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkShare is the peak of one goroutine and of all processors, in products a second.
func BenchmarkShare(b *testing.B) {
	const n = 1 << 27
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for b.Loop() {
				Share(workers, n)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gproducts/s")
		})
	}
}

// A loop allocates when it is made, not when it runs.
func TestLoopAllocatesNothing(t *testing.T) {
	loop := Loop(3 * rows * inner * cols)
	if n := testing.AllocsPerRun(10, loop); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
