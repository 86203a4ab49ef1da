//go:build darwin || macrules

package unimem

import (
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/internal/libsystem"
)

// openSystem opens memory of this system.
func openSystem(size int) (backing, error) {
	table, err := systemSurfaces("open", size)
	if err != nil {
		return nil, err
	}
	return openSurface(table, size)
}

// systemSurfaces returns the system's library of surfaces.
func systemSurfaces(op string, size int) (*iosurface.Table, error) {
	t, err := dynamic.System()
	if err != nil {
		return nil, because(op, size, ErrCreate, err, "")
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
