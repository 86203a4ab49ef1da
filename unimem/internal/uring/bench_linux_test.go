//go:build !macrules

package uring

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// BenchmarkRead reads a file past the page cache to a warm Block: by goroutines, as the floor, by a Ring, and by a
// Ring with the Block registered. cpu-ms is the processor time of a read of the whole file. register is the
// registration alone.
func BenchmarkRead(b *testing.B) {
	const size, part, depth = 256 << 20, 4 << 20, 8
	path := filepath.Join(b.TempDir(), "file")
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 31 >> 2)
	}
	require.NoError(b, os.WriteFile(path, data, 0o600))
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		b.Skip("no direct reads here: ", err)
	}
	defer f.Close()
	block, err := unimem.Open(size, unimem.Warm())
	require.NoError(b, err)
	defer block.Close()
	ring, err := Open(depth)
	if err != nil {
		b.Skip(err)
	}
	defer ring.Close()
	mem := block.Bytes()
	run := func(name string, size int, read func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			before := cpu(b)
			for b.Loop() {
				read()
			}
			b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-ms")
		})
	}
	for _, part := range []int{part, 64 << 10} {
		kind := " 4MiB"
		if part < 1<<20 {
			kind = " 64KiB"
		}
		run("floor"+kind, size, func() {
			var next atomic.Int64
			var wg sync.WaitGroup
			for range depth {
				wg.Go(func() {
					for at := next.Add(int64(part)) - int64(part); at < size; at = next.Add(int64(part)) - int64(part) {
						if _, err := f.ReadAt(mem[at:at+int64(part)], at); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
		for _, memory := range []int{-1, 0} {
			name := "ring"
			if memory == 0 {
				name = "registered"
				require.NoError(b, ring.Register(mem))
			}
			var list []*Read
			for at := 0; at < size; at += part {
				list = append(list, &Read{Mem: mem[at : at+part], Off: int64(at), Memory: memory})
			}
			run(name+kind, size, func() {
				require.NoError(b, ring.Read(context.Background(), f, list, func(i int) bool {
					if x := list[i]; x.N != part {
						b.Error(x.N, x.Err)
					}
					return false
				}))
			})
		}
	}
	run("register", size, func() { require.NoError(b, ring.Register(mem)) })
}

// cpu is the processor time of the process in milliseconds.
func cpu(b *testing.B) float64 {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}
