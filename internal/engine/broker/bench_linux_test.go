//go:build !macrules

package broker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/tripbench"
)

var megabytes = []int{1, 16, 256}

// One row out of inputs of different sizes, through a private broker.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range megabytes {
		b.Run(fmt.Sprintf("%dMB", n), func(b *testing.B) {
			r := newRig(b, Options{}, lastRow(n<<20))
			tripbench.Percentiles(b, func() error { return r.run(context.Background()) })
		})
	}
}

// The same with a context that could end.
func BenchmarkEvaluateDeadline(b *testing.B) {
	r := newRig(b, Options{}, lastRow(1<<20))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	tripbench.Percentiles(b, func() error { return r.run(ctx) })
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
func BenchmarkEvaluateFloor(b *testing.B) { tripbench.Floor(b) }

// What an engine costs that is opened, used once and closed.
func BenchmarkOpenClose(b *testing.B) {
	for b.Loop() {
		e, err := Open(context.Background(), Options{})
		require.NoError(b, err)
		require.NoError(b, e.Close())
	}
}
