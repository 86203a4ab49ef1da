//go:build !macrules

package unimem

import (
	"os"

	"golang.org/x/sys/unix"
)

// manyBlocks is the number of Blocks from which counting descriptors first is worth its time:
// fewer fail soon enough.
const manyBlocks = 64

// checkDescriptors refuses more Blocks than this process can have descriptors, before it opens
// the first. size is their size together.
func checkDescriptors(op string, size, count int, c config) error {
	if c.Heap || c.Table != nil || count < manyBlocks {
		return nil
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil // unknown: the descriptor that is too many fails
	}
	if uint64(count) <= limit.Cur-min(openDescriptors(), limit.Cur) {
		return nil
	}
	return createError(op, "memfd_create for each cell", size, unix.EMFILE)
}

// openDescriptors counts the open descriptors of this process, 0 if it cannot.
func openDescriptors() uint64 {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return uint64(max(len(names)-1, 0)) // one is that of the folder
}
