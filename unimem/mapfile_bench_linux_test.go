//go:build !macrules

package unimem_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// BenchmarkMapFile reads a mapped file of 64 tensors of 4 MiB, from the disk and from the page cache: tensors in the
// order of their offsets and in that of names, which is another one, on shared and private mappings, with and without
// MADV_SEQUENTIAL. MapFile itself is shared without advice. The floor is a read of the same bytes into one buffer.
func BenchmarkMapFile(b *testing.B) {
	const tensors, tensor = 64, 4 << 20
	path := filepath.Join(b.TempDir(), "file")
	data := make([]byte, tensor)
	f, err := os.Create(path)
	require.NoError(b, err)
	defer f.Close()
	for i := range tensors {
		data[0] = byte(i)
		_, err := f.Write(data)
		require.NoError(b, err)
	}
	require.NoError(b, f.Sync())
	total := 0
	names := rand.New(rand.NewPCG(1, 2)).Perm(tensors)
	touch := func(mem []byte, order []int) (sum int) {
		for _, t := range order {
			for at := t * tensor; at < (t+1)*tensor; at += 4096 {
				sum += int(mem[at])
			}
		}
		return sum
	}
	offsets := make([]int, tensors)
	for i := range offsets {
		offsets[i] = i
	}
	measure := func(name string, cold bool, once func()) {
		from := map[bool]string{true: "disk", false: "cache"}[cold]
		b.Run(from+"/"+name, func(b *testing.B) {
			b.SetBytes(tensors * tensor)
			for b.Loop() {
				if cold {
					b.StopTimer()
					require.NoError(b, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
					b.StartTimer()
				}
				once()
			}
		})
	}
	for _, cold := range []bool{true, false} {
		measure("read", cold, func() {
			for i := range tensors {
				_, err := f.ReadAt(data, int64(i)*tensor)
				require.NoError(b, err)
			}
		})
		for order, tensors := range map[string][]int{"offsets": offsets, "names": names} {
			measure("MapFile/"+order, cold, func() {
				m, err := unimem.MapFile(f)
				require.NoError(b, err)
				total += touch(m.Bytes(), tensors)
				require.NoError(b, m.Close())
			})
			for kind, flag := range map[string]int{"shared": unix.MAP_SHARED, "private": unix.MAP_PRIVATE} {
				for advice, value := range map[string]int{"normal": unix.MADV_NORMAL, "sequential": unix.MADV_SEQUENTIAL} {
					measure(fmt.Sprintf("%s/%s/%s", kind, advice, order), cold, func() {
						mem, err := unix.Mmap(int(f.Fd()), 0, tensor*64, unix.PROT_READ, flag)
						require.NoError(b, err)
						require.NoError(b, unix.Madvise(mem, value))
						total += touch(mem, tensors)
						require.NoError(b, unix.Munmap(mem))
					})
				}
			}
		}
	}
	require.NotEqual(b, -1, total, "the pages are read")
}

// A driver that pins pages for writing gets none of a mapped file. The write by /proc/self/mem stands for it: it takes
// pages by force, as a debugger does. On a private mapping the kernel then copies the page, and the file and the memory
// are two things; on the shared mapping of MapFile it refuses.
func TestMapFileGivesNoPageToAWriter(t *testing.T) {
	const size = 16384
	b, path := mapped(t, size)
	defer func() { require.NoError(t, b.Close()) }()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	private, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(private)) }()
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer mem.Close()
	before := b.Bytes()[0]
	if _, err = mem.WriteAt([]byte{before + 1}, int64(addressOf(private))); err != nil {
		t.Skipf("this system writes to no page by force: %v", err)
	}
	require.Equal(t, before+1, private[0])
	require.Equal(t, before, b.Bytes()[0], "a copy of the page")
	_, err = mem.WriteAt([]byte{before + 1}, int64(b.Address()))
	require.Error(t, err)
	require.Equal(t, before, b.Bytes()[0])
}
