//go:build !macrules

package procmem_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func TestAPageMappedTwiceCountsOnce(t *testing.T) {
	const size = 64 << 20
	before, err := procmem.Proportional()
	if err != nil {
		t.Skipf("the kernel has no smaps_rollup (%v); run it on Linux 4.14 or later", err)
	}
	b, err := unimem.Open(size, unimem.Warm())
	require.NoError(t, err)
	m, err := unimem.Map(b)
	require.NoError(t, err)
	for i := 0; i < size; i += 4096 {
		m.Bytes()[i]++
	}
	after, err := procmem.Proportional()
	require.NoError(t, err)
	require.InDelta(t, size, after-before, size/4)
	require.NoError(t, m.Close())
	require.NoError(t, b.Close())
}

// Pages that a process shares with others of its program do not count.
func TestProgramsDoNotCount(t *testing.T) {
	before, err := procmem.Proportional()
	if err != nil {
		t.Skip(err)
	}
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	require.NoError(t, err)
	if !strings.Contains(string(rollup), "Pss_File:") {
		t.Skip("the kernel does not report pages of files separately; run it on Linux 5.3 or later")
	}
	f, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	code, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_POPULATE)
	require.NoError(t, err)
	after, err := procmem.Proportional()
	require.NoError(t, err)
	require.Less(t, after-before, info.Size()/4)
	require.NoError(t, unix.Munmap(code))
}

// Own pages, mapped files and available memory are known on Linux.
func TestResidentAndAvailable(t *testing.T) {
	own, files := procmem.Resident()
	require.Positive(t, own)
	require.Positive(t, files)
	require.Positive(t, procmem.Available())
	p := procmem.MemoryPressure()
	require.Zero(t, p.Level, "of macOS")
	require.LessOrEqual(t, p.Stalled, 100.)
}
