//go:build darwin || macrules

package unimem

import (
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/internal/libsystem"
)

func openBacking(size int, c config) (backing, error) {
	if c.Heap {
		return openHeap(size)
	}
	table, err := surfaceTable("open", size, c)
	if err != nil {
		return nil, err
	}
	return openSurface(table, size)
}

// surfaceTable returns the library of surfaces in c.
func surfaceTable(op string, size int, c config) (*iosurface.Table, error) {
	if c.Table != nil {
		return c.Table, nil
	}
	t, err := dynamic.System()
	if err != nil {
		return nil, &Error{Op: op, Size: size, Err: ErrCreate, Cause: err}
	}
	return t, nil
}

// memoryOf describes machineMemory in messages.
const memoryOf = "this machine has no more memory"

// machineMemory is the physical memory in bytes.
func machineMemory() uint64 {
	n, err := libsystem.SysctlUint64("hw.memsize")
	if err != nil || n == 0 {
		return fallbackMemory
	}
	return n
}

// checkMapFile refuses no range: no file has pages of its own size.
func checkMapFile(int, int) error { return nil }

// systemRoom knows no limit of this system.
func systemRoom(int) room { return unlimited() }
