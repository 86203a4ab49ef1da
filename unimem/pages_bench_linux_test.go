//go:build !macrules

package unimem_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// hugeEnv names a folder of a tmpfs with huge pages, for BenchmarkHugePages:
//
//	unshare -m sh -c 'mount -t tmpfs -o huge=always none /mnt &&
//		UNIMEM_BENCH_HUGE=/mnt go test -run ^$ -bench HugePages ./unimem'
const hugeEnv = "UNIMEM_BENCH_HUGE"

// BenchmarkHugePages measures what huge pages would gain: a Block, which is the floor, beside one
// that asks for huge pages with madvise, and a file on a tmpfs that has them. huge-MB is the
// memory that the kernel mapped with huge pages: 0 means that the request has no effect here.
func BenchmarkHugePages(b *testing.B) {
	const size = 256 << 20
	b.Run("block", func(b *testing.B) {
		pages(b, func() ([]byte, func() error, error) {
			m, err := unimem.Open(size)
			return m.Bytes(), m.Close, err
		})
	})
	b.Run("advised", func(b *testing.B) {
		pages(b, func() ([]byte, func() error, error) {
			m, err := unimem.Open(size)
			if err == nil {
				err = unix.Madvise(m.Bytes(), unix.MADV_HUGEPAGE)
			}
			return m.Bytes(), m.Close, err
		})
	})
	b.Run("tmpfs", func(b *testing.B) {
		folder := os.Getenv(hugeEnv)
		if folder == "" {
			b.Skip("set " + hugeEnv + " to a folder of a tmpfs with huge=always")
		}
		pages(b, func() ([]byte, func() error, error) { return mapFile(folder, size) })
	})
}

// mapFile maps a new file in a folder.
func mapFile(folder string, size int) ([]byte, func() error, error) {
	f, err := os.OpenFile(filepath.Join(folder, "pages"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, nil, err
	}
	if err := f.Truncate(int64(size)); err != nil {
		return nil, nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return mem, func() error { return unix.Munmap(mem) }, err
}

// pages reports the best times of the first touch of a page, of reads in order and at random.
func pages(b *testing.B, open func() ([]byte, func() error, error)) {
	best := map[string]float64{}
	keep := func(name string, began time.Time, n int) {
		t := float64(time.Since(began).Nanoseconds()) / float64(n)
		if old, ok := best[name]; !ok || t < old {
			best[name] = t
		}
	}
	for range b.N {
		mem, done, err := open()
		if err != nil {
			b.Fatal(err)
		}
		const small = 4 << 10
		began := time.Now()
		for i := 0; i < len(mem); i += small {
			mem[i] = 1
		}
		keep("touch-ns/page", began, len(mem)/small)
		words, err := unimem.View[uint64](mem)
		if err != nil {
			b.Fatal(err)
		}
		const reads = 1 << 20
		at, sum := uint64(1), uint64(0)
		began = time.Now()
		for range reads {
			at = at*6364136223846793005 + 1442695040888963407
			sum += words[(at>>33+sum&1)%uint64(len(words))] // each read waits for the one before
		}
		keep("random-ns/read", began, reads)
		began = time.Now()
		for _, w := range words {
			sum += w
		}
		keep("stream-ns/KiB", began, len(mem)>>10)
		runtime.KeepAlive(sum)
		best["huge-MB"] = float64(hugeMapped(b) >> 10)
		if err := done(); err != nil {
			b.Fatal(err)
		}
	}
	for name, v := range best {
		b.ReportMetric(v, name)
	}
	b.ReportMetric(0, "ns/op") // of all phases together
}

// hugeMapped is the shared memory in KiB that this process maps with huge pages.
func hugeMapped(b testing.TB) (sum int) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if k, _ := fmt.Sscanf(line, "ShmemPmdMapped: %d kB", &n); k == 1 {
			sum += n
		}
	}
	return sum
}
