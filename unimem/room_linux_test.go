//go:build !macrules

package unimem_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// The runtime dies of an allocation that the limit on address space refuses: a child process with
// the limit gets an error.
func TestHeapBeyondAddressSpace(t *testing.T) {
	leaktest.SkipEmulated(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), shareEnv+"=limited")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// playLimited opens more memory of the heap than the limits on address space and data allow.
func playLimited() error {
	for _, resource := range []int{unix.RLIMIT_AS, unix.RLIMIT_DATA} {
		var old unix.Rlimit
		if err := unix.Getrlimit(resource, &old); err != nil {
			return err
		}
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: 3 << 30, Max: old.Max}); err != nil {
			return err
		}
		_, err := unimem.Open(4<<30, unimem.OnHeap())
		if !errors.Is(err, unimem.ErrCreate) || !errors.Is(err, unimem.ErrExhausted) {
			return fmt.Errorf("beyond limit %d: %v", resource, err)
		}
		// Each cell would be within the limit; all of them take 4 GiB and more.
		_, err = unimem.NewGrid(64, 1<<18, unimem.OnHeap(), unimem.SurfacePerCell())
		if !errors.Is(err, unimem.ErrExhausted) {
			return fmt.Errorf("a grid beyond limit %d: %v", resource, err)
		}
		b, err := unimem.Open(16<<20, unimem.OnHeap())
		if err != nil {
			return fmt.Errorf("within limit %d: %w", resource, err)
		}
		if err := errors.Join(b.Close(), unix.Setrlimit(resource, &old)); err != nil {
			return err
		}
	}
	return nil
}

// group writes the files of a control group.
func group(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644))
	}
}

func TestRoomOfControlGroups(t *testing.T) {
	var s unix.Sysinfo_t
	require.NoError(t, unix.Sysinfo(&s))
	swap := uint64(s.Freeswap) * uint64(s.Unit)
	second := map[string]string{"memory.max": "1000000", "memory.current": "700000",
		"memory.stat": "anon 1\ninactive_file 100000\nactive_file 50000\nshmem 9", "memory.swap.max": "0"}
	for name, c := range map[string]struct {
		list  string
		files map[string]map[string]string
		want  uint64
		held  uint64
	}{
		"version 2": {"0::/a/b\n", map[string]map[string]string{"a/b": second}, 450000, 0},
		"the parent": {"0::/a/b\n", map[string]map[string]string{
			"a/b": {"memory.max": "max", "memory.current": "5"}, "a": second}, 450000, 0},
		"the root": {"0::/elsewhere/c\n", map[string]map[string]string{"": second}, 450000, 0},
		"version 1": {"3:cpu:/x\n4:cpuset,memory:/a\n0::/\n", map[string]map[string]string{"memory/a": {
			"memory.limit_in_bytes": "1000000", "memory.usage_in_bytes": "700000",
			"memory.stat":                 "total_inactive_file 100000\ntotal_active_file 50000",
			"memory.memsw.limit_in_bytes": "1000000", "memory.memsw.usage_in_bytes": "700000"}}, 450000, 0},
		"version 1 with swap": {"4:memory:/a\n", map[string]map[string]string{"memory/a": {
			"memory.limit_in_bytes": "1000000", "memory.usage_in_bytes": "700000"}}, 300000 + swap, 0},
		"version 1 without limit": {"4:memory:/a\n", map[string]map[string]string{"memory/a": {
			"memory.limit_in_bytes": "9223372036854771712", "memory.usage_in_bytes": "700000"}}, math.MaxUint64, 0},
		"beyond": {"0::/\n", map[string]map[string]string{"": {"memory.max": "10", "memory.current": "20",
			"memory.swap.max": "0"}}, 0, 0},
		"memory that was not touched": {"0::/a/b\n", map[string]map[string]string{"a/b": second}, 200000, 800000},
		"memory that was not touched, version 1": {"4:memory:/a\n", map[string]map[string]string{"memory/a": {
			"memory.limit_in_bytes": "1000000", "memory.usage_in_bytes": "700000",
			"memory.memsw.limit_in_bytes": "1000000", "memory.memsw.usage_in_bytes": "700000"}}, 100000, 900000},
		"nothing":  {"0::/\n", nil, math.MaxUint64, 0},
		"nonsense": {"::\nx\n\n0:\n", nil, math.MaxUint64, 0},
		"unlimited": {"0::/\n", map[string]map[string]string{"": {"memory.max": "max",
			"memory.current": "20"}}, math.MaxUint64, 0},
	} {
		root := t.TempDir()
		for dir, files := range c.files {
			group(t, filepath.Join(root, dir), files)
		}
		list := filepath.Join(root, "list")
		require.NoError(t, os.WriteFile(list, []byte(c.list), 0o644))
		require.Equal(t, c.want, unimem.RoomOfGroups(list, root, c.held), name)
	}
	require.EqualValues(t, uint64(math.MaxUint64), unimem.RoomOfGroups("/nonexistent", "/", 0))
}
