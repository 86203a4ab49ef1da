package measure

import (
	"errors"
	"testing"
	"time"

	"github.com/anekit/anekit/internal/step"
)

// Bench runs a benchmark of each case, of b.N turns. It reports the best times of the operation and of its floor, and
// how many times the floor the operation takes.
func Bench(b *testing.B, cases []Case) {
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			r := c.bench(b)
			b.ReportMetric(r.Floor, "ns/floor")
			b.ReportMetric(r.Ratio, "x-floor")
			if c.MaxRatio > 0 {
				b.ReportMetric(c.MaxRatio, "x-target")
			}
			switch {
			case c.Items > 0:
				b.ReportMetric(r.Measured/float64(c.Items), "ns/item")
			case c.Bytes > 0:
				b.ReportMetric(float64(r.Throughput)/1e6, "MB/s")
			}
		})
	}
}

// Percentiles is a benchmark of one call after another: their median, their 99th percentile and their allocations.
func Percentiles(b *testing.B, call func() error) {
	b.Helper()
	c := Case{Each: true, Open: func(*step.T) Loop { return Repeat(call) }}
	b.ReportMetric(float64(c.bench(b).Allocs), "allocs/call")
}

// bench measures b.N turns.
func (c *Case) bench(b *testing.B) Row {
	r, err := c.measure(b.Context(), 1, func(time.Duration) int { b.ResetTimer(); return b.N })
	b.StopTimer()
	if errors.Is(err, ErrMemory) || errors.Is(err, errors.ErrUnsupported) {
		b.Skip(err)
	} else if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(r.Measured, "ns/op")
	if c.Each {
		b.ReportMetric(r.P99, "p99-ns")
	}
	return r
}
