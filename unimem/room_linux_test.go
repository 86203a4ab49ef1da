//go:build !macrules

package unimem_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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
