//go:build linux

package packed

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func cpuTime() float64 {
	var u unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &u)
	return float64(u.Nano()) * 1e-9
}

func TestCPU(t *testing.T) {
	if os.Getenv("CPUB") == "" {
		t.Skip()
	}
	runtime.LockOSThread()
	for _, bits := range []int{4, 8, 2} {
		for offset, name := range []string{"none", "integer", "fp16", "fp32"} {
			for _, wide := range []int{64, 128} {
				rows := 1 << 14
				w := random(rand.New(rand.NewPCG(1, 2)), kind{bits, 0, false, offset}, rows, 2048, 1, wide, false)
				x := halves(rand.New(rand.NewPCG(1, 2)), 2048)
				w.Arrange(x)
				sums := make([]float32, rows)
				room := make([]float32, w.Room(32))
				best := 1e9
				for range 15 {
					c := cpuTime()
					for i := 0; i < rows; i += 32 {
						w.Dots(sums[i:i+32], x, room, i)
					}
					best = min(best, cpuTime()-c)
				}
				fmt.Printf("%d %s %d: %.1f GB/s\n", bits, name, wide, float64(w.bytes())/best/1e9)
			}
		}
	}
}
