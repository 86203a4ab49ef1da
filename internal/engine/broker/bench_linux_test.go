//go:build !macrules

package broker

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/tripbench"
)

// One row out of inputs of different sizes, through a private broker, beside what two processes need at least to wake
// each other.
func BenchmarkEvaluate(b *testing.B) {
	r := newRig(b, Options{}, lastRow(1<<20))
	measure.Bench(b, tripbench.Cases(r.device))
}

// The same with a context that could end.
func BenchmarkEvaluateDeadline(b *testing.B) {
	r := newRig(b, Options{}, lastRow(1<<20))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	measure.Percentiles(b, func() error { return r.run(ctx) })
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

// What an engine costs that is opened, used once and closed.
func BenchmarkOpenClose(b *testing.B) {
	for b.Loop() {
		e, err := Open(context.Background(), Options{})
		require.NoError(b, err)
		require.NoError(b, e.Close())
	}
}
