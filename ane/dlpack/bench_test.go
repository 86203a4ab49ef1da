//go:build linux || darwin

package dlpack_test

import (
	"testing"
	"time"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/ane/dlpack"
)

// least measures parts in turns of n calls each and reports the shortest time of a call of each part, so
// that parts of one line can be compared on a busy machine.
func least(b *testing.B, n int, parts map[string]func(i int)) {
	shortest := map[string]time.Duration{}
	for b.Loop() {
		for name, f := range parts {
			start := time.Now()
			for i := range n {
				f(i)
			}
			if d := time.Since(start); shortest[name] == 0 || d < shortest[name] {
				shortest[name] = d
			}
		}
	}
	for name, d := range shortest {
		b.ReportMetric(float64(d.Nanoseconds())/float64(n), name)
	}
	b.ReportMetric(0, "ns/op") // of a whole turn
}

// BenchmarkExport measures Export, and Delete beside it.
func BenchmarkExport(b *testing.B) {
	const n = 1000
	x := tensor(b, 2, 3, 4, 8)
	var all [n]*dlpack.ManagedTensorVersioned
	shortest, deletion := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		for i := range all {
			all[i], _ = dlpack.Export(x)
		}
		shortest = min(shortest, time.Since(start))
		start = time.Now()
		for _, m := range all {
			m.Delete()
		}
		deletion = min(deletion, time.Since(start))
	}
	b.ReportMetric(float64(shortest.Nanoseconds())/n, "ns/export")
	b.ReportMetric(float64(deletion.Nanoseconds())/n, "ns/delete")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkImport measures Import and Close of a tensor whose deleter is a C function that does nothing,
// beside the bare call of that function.
func BenchmarkImport(b *testing.B) {
	c := exchange(b)
	m, err := dlpack.Export(tensor(b, 2, 3, 4, 8))
	if err != nil {
		b.Fatal(err)
	}
	deleter := m.Deleter
	m.Deleter = c.nothing
	defer func() {
		m.Deleter = deleter
		m.Delete()
	}()
	address := m.Address()
	least(b, 300, map[string]func(int){
		"ns/import+close": func(int) {
			x, err := dlpack.Import(dlpack.At(address))
			if err != nil {
				b.Fatal(err)
			}
			if err := x.Block().Close(); err != nil {
				b.Fatal(err)
			}
		},
		"ns/bare-call": func(int) { purego.SyscallN(c.nothing, address) },
	})
}

// BenchmarkDeleter measures Export and the deleter that C calls, beside a bare call of C that calls a Go
// function which does nothing.
func BenchmarkDeleter(b *testing.B) {
	c := exchange(b)
	x := tensor(b, 2, 3, 4, 8)
	empty := purego.NewCallback(func(uintptr) uintptr { return 0 })
	least(b, 300, map[string]func(int){
		"ns/export+deleter": func(int) {
			m, err := dlpack.Export(x)
			if err != nil {
				b.Fatal(err)
			}
			purego.SyscallN(c.endNow, m.Address())
		},
		"ns/bare-callback": func(int) { purego.SyscallN(c.callBack, 0, empty) },
	})
}
