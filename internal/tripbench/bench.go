package tripbench

import (
	"slices"
	"testing"
	"time"
)

// Percentiles runs a benchmark that reports the median and the 99th percentile of call in
// addition to the mean.
func Percentiles(b *testing.B, call func() error) {
	b.Helper()
	for range 1000 { // warm up both processes
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	times := make([]time.Duration, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range times {
		start := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		times[i] = time.Since(start)
	}
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(float64(percentile(times, 50).Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(percentile(times, 99).Nanoseconds()), "p99-ns")
}

// Floor is the benchmark of Signals.
func Floor(b *testing.B) {
	s, err := NewSignals()
	if err != nil {
		b.Fatal(err)
	}
	Percentiles(b, s.Trip)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
