package membench

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/anekit/anekit/unimem"
)

func blockOpen(size int) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			m, err := unimem.Open(size)
			if err == nil {
				err = m.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func blockOpenFloor(size int) func(*testing.B) {
	return func(b *testing.B) {
		for range b.N {
			m, err := openBare(size)
			if err == nil {
				err = m.close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func blockWrite(b *testing.B) {
	withBlock(b, func(mem []byte) {
		words, err := unimem.View[uint64](mem)
		if err != nil {
			b.Fatal(err)
		}
		writeAll(b, words)
	})
}

func blockWriteFloor(b *testing.B) {
	needMemory(b)
	words := make([]uint64, gigabyte/8)
	writeAll(b, words)
	runtime.KeepAlive(words)
}

func blockFill(b *testing.B) { withBlock(b, func(mem []byte) { fillAll(b, mem) }) }

func blockFillFloor(b *testing.B) {
	needMemory(b)
	m, err := openBare(gigabyte)
	if err != nil {
		b.Fatal(err)
	}
	fillAll(b, m.mem)
	if err := m.close(); err != nil {
		b.Fatal(err)
	}
}

// needMemory skips a benchmark that would be killed for lack of memory.
func needMemory(b *testing.B) {
	if lack := lacking(gigabyte); lack != "" {
		b.Skip(lack + "; run it on a larger machine or raise the container's limit")
	}
}

// lacking returns a message if there is not enough memory for that many bytes: for the
// operation, its floor, and memory that the collector has not freed yet.
func lacking(bytes int64) string {
	if need, have := uint64(3*bytes), Available(); need > have {
		return fmt.Sprintf("needs %d MB of memory, %d MB are free", need>>20, have>>20)
	}
	return ""
}

func withBlock(b *testing.B, use func([]byte)) {
	needMemory(b)
	m, err := unimem.Open(gigabyte)
	if err != nil {
		b.Fatal(err)
	}
	use(m.Bytes())
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
}

// writeAll measures plain indexed stores to present pages.
func writeAll(b *testing.B, words []uint64) {
	write(words, 1)
	b.SetBytes(int64(len(words)) * 8)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		write(words, uint64(i))
	}
	b.StopTimer()
}

func fillAll(b *testing.B, mem []byte) {
	clear(mem)
	b.SetBytes(int64(len(mem)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		clear(mem)
	}
	b.StopTimer()
}

func write(words []uint64, v uint64) {
	for i := range words {
		words[i] = v + uint64(i)
	}
}

func read(words []uint64) uint64 {
	var sum uint64
	for i := range words {
		sum += words[i]
	}
	return sum
}
