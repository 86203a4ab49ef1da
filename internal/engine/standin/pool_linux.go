//go:build cgo

package standin

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// poolName is the name of the memory that is the pool of a process and its children.
const poolName = "anekit-standin-pool"

// poolOf returns the path of the pool that named or EnvPool name. If neither does, it makes a pool in memory for this
// process, and names it to the processes that this one starts: its path lies in /proc, so nothing is left of it after
// the last of them has ended. Call it with process.mu locked.
func poolOf(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if inherited := os.Getenv(EnvPool); inherited != "" && !ended(inherited) {
		return inherited, nil
	}
	fd, err := unix.MemfdCreate(poolName, unix.MFD_CLOEXEC)
	if err != nil {
		return "", &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err),
			Detail: "no memory for the pool of slots", Hint: "set " + EnvPool + " to a file"}
	}
	process.pool = os.NewFile(uintptr(fd), poolName)
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	return path, os.Setenv(EnvPool, path)
}

// ended reports whether a path named the pool of a process that has ended. Its number may be another process's now.
func ended(path string) bool {
	if !strings.HasPrefix(path, "/proc/") {
		return false
	}
	file, err := os.Readlink(path)
	return err != nil || !strings.HasPrefix(file, "/memfd:"+poolName)
}
