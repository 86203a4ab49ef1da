package broker

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// echoVariable has a test binary be the other end of BenchmarkEvaluateFloor.
const echoVariable = "ANEKIT_TEST_ECHO"

// p50 times each trip and reports the median.
func p50(b *testing.B, trip func() error) {
	for range 1000 { // both sides warm
		require.NoError(b, trip())
	}
	times := make([]time.Duration, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range times {
		start := time.Now()
		if err := trip(); err != nil {
			b.Fatal(err)
		}
		times[i] = time.Since(start)
	}
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}

var megabytes = []int{1, 16, 256}

// One row out of inputs of different sizes, through a private broker.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range megabytes {
		b.Run(fmt.Sprintf("%dMB", n), func(b *testing.B) {
			r := newRig(b, Options{}, lastRow(n<<20))
			p50(b, func() error { return r.run(context.Background()) })
		})
	}
}

// The same with a context that could end.
func BenchmarkEvaluateDeadline(b *testing.B) {
	r := newRig(b, Options{}, lastRow(1<<20))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	p50(b, func() error { return r.run(ctx) })
}

// Two goroutines at once, each with a request of its own.
func BenchmarkEvaluateParallel(b *testing.B) {
	r := newRig(b, Options{}, lastRow(1<<20))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		q, err := r.bind(memory(b, r.in.Layout()), memory(b, r.out.Layout()))
		if err != nil {
			b.Error(err)
			return
		}
		defer q.Close()
		for pb.Next() {
			if _, err := r.model.Evaluate(context.Background(), q); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// What two processes need at least to wake each other: blocking reads and writes of
// bare eventfds.
func BenchmarkEvaluateFloor(b *testing.B) {
	there, back := event(b), event(b)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), echoVariable+"=1")
	c.ExtraFiles = []*os.File{there, back}
	require.NoError(b, c.Start())
	out, in := int(there.Fd()), int(back.Fd())
	one, buf := binary.NativeEndian.AppendUint64(nil, 1), make([]byte, 8)
	p50(b, func() error {
		if _, err := unix.Write(out, one); err != nil {
			return err
		}
		_, err := unix.Read(in, buf)
		return err
	})
	_, err := unix.Write(out, binary.NativeEndian.AppendUint64(nil, 2)) // the end
	require.NoError(b, err)
	require.NoError(b, c.Wait())
}

func event(b *testing.B) *os.File {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	require.NoError(b, err)
	f := os.NewFile(uintptr(fd), "eventfd")
	b.Cleanup(func() { require.NoError(b, f.Close()) })
	return f
}

// echo is the other end: it returns what it reads until that is not 1.
func echo() error {
	buf := make([]byte, 8)
	for {
		if _, err := unix.Read(3, buf); err != nil || binary.NativeEndian.Uint64(buf) != 1 {
			return err
		}
		if _, err := unix.Write(4, buf); err != nil {
			return err
		}
	}
}

// What an engine costs that is opened, used once and closed.
func BenchmarkOpenClose(b *testing.B) {
	for b.Loop() {
		e, err := Open(context.Background(), Options{})
		require.NoError(b, err)
		require.NoError(b, e.Close())
	}
}
