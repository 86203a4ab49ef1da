package measure

import (
	"errors"
	"testing"
)

// Bench runs a benchmark of each case, of b.N turns. It reports the best times of the operation and of its floor, and
// how many times the floor the operation takes.
func Bench(b *testing.B, cases []Case) {
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			o, err := c.open(b.Context())
			if errors.Is(err, ErrMemory) || errors.Is(err, errors.ErrUnsupported) {
				b.Skip(err)
			} else if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			value, floor, err := o.turns(b.Context(), b.N)
			b.StopTimer()
			if err := errors.Join(err, o.close()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(value, "ns/op")
			b.ReportMetric(floor, "ns/floor")
			b.ReportMetric(value/floor, "x-floor")
			if c.MaxRatio > 0 {
				b.ReportMetric(c.MaxRatio, "x-target")
			}
			switch {
			case c.Each:
				b.ReportMetric(percentile(o.all, 99), "p99-ns")
			case c.Items > 0:
				b.ReportMetric(value/float64(c.Items), "ns/item")
			case c.Bytes > 0:
				b.ReportMetric(1e3*float64(c.Bytes)/value, "MB/s")
			}
		})
	}
}

// Percentiles is a benchmark of one call after another, with their median and 99th percentile.
func Percentiles(b *testing.B, call func() error) {
	b.Helper()
	o := opened{each: true, n: b.N}
	o.Loop = func(n int) error {
		for range n {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := o.Loop(1000); err != nil { // warms both processes up
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	t, err := Turns(b.Context(), 1, o.side(o.Loop))
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(percentile(t[0][0], 50), "p50-ns")
	b.ReportMetric(percentile(t[0][0], 99), "p99-ns")
}
