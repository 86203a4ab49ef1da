//go:build !macrules

package huge

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// aligned maps size bytes of a new memfd at a multiple of Size.
func aligned(t *testing.T, size int) []byte {
	t.Helper()
	fd, err := unix.MemfdCreate("huge", unix.MFD_CLOEXEC)
	if err != nil {
		t.Skip("no memfd here: ", err)
	}
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, int64(size)))
	mem, err := Map(fd, size)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, Unmap(mem)) })
	return mem
}

// collapses reports whether this kernel makes huge pages on request.
func collapses(t *testing.T) {
	t.Helper()
	before := mapped(t) // an emulator answers success and does nothing
	if Back(aligned(t, 4*Size)) == 0 || mapped(t) == before {
		t.Skip("this kernel makes no huge pages of shared memory: Linux before 6.1, or shmem_enabled is deny")
	}
}

// mapped is the shared memory in bytes that is mapped with huge pages.
func mapped(t *testing.T) (sum int) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var n int
		if k, _ := fmt.Sscanf(line, "ShmemPmdMapped: %d kB", &n); k == 1 {
			sum += n << 10
		}
	}
	return sum
}

func TestAbsentMemoryGetsHugePages(t *testing.T) {
	collapses(t)
	mem := aligned(t, 4*Size)
	mem[Size+5] = 7 // is present
	before := mapped(t)
	require.Equal(t, 3*Size, Back(mem))
	require.Equal(t, before+3*Size, mapped(t))
	require.Equal(t, byte(7), mem[Size+5])
	mem[Size+5] = 0
	for i, b := range mem {
		if b != 0 {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
	require.Zero(t, Back(mem), "everything is present")
}

func TestPartsOfHugePagesStay(t *testing.T) {
	collapses(t)
	mem := aligned(t, 3*Size)
	require.Zero(t, Back(mem[:Size-1]))
	require.Zero(t, Back(mem[1:2*Size-1]))
	require.Zero(t, Back(nil))
	require.Equal(t, Size, Back(mem[small:2*Size+small]))
	there := make([]byte, len(mem)/small)
	require.NoError(t, mincore(mem, there))
	for i, b := range there {
		require.Equal(t, i >= Size/small && i < 2*Size/small, b&1 == 1, "page %d", i)
	}
}

func TestMapIsAligned(t *testing.T) {
	for _, size := range []int{Size, Size + 16<<10, 5*Size - small} {
		mem := aligned(t, size)
		require.Len(t, mem, size)
		if os.Getpagesize() == small {
			require.Len(t, whole(mem), size/Size*Size, "no byte is before the first run")
		}
		mem[size-1] = 1
	}
}

// Mappings are aligned wherever others are, and whatever was removed before.
func TestManyMaps(t *testing.T) {
	for range 5 {
		var all [][]byte
		for i := range 20 {
			mem := aligned(t, Size*(1+i%3)+i%2*small)
			require.Zero(t, Skew(mem))
			mem[len(mem)-1] = byte(i)
			all = append(all, mem)
		}
		for i, mem := range all {
			require.Equal(t, byte(i), mem[len(mem)-1])
		}
	}
}
