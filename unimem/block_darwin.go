package unimem

import (
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem/internal/iosurface/dynamic"
)

func openBacking(size int, c config) (backing, error) {
	if c.heap {
		return openHeap(size)
	}
	table := c.table
	if table == nil {
		var err error
		if table, err = dynamic.System(); err != nil {
			return nil, &Error{Op: "open", Size: size, Err: ErrCreate, Cause: err}
		}
	}
	return openSurface(table, size)
}

// memoryOf says what machineMemory counts.
const memoryOf = "this machine has no more memory"

// machineMemory is the physical memory in bytes.
func machineMemory() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil || n == 0 {
		return fallbackMemory
	}
	return n
}
