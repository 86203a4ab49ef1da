//go:build !macrules

package pages

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// Drop removes the pages of a Block from the Block's own mapping. The memory keeps them, with their bytes, for other
// mappings and for the next access, which takes a fault of the page. Pages that were pinned are pinned again then.
// It does nothing to memory that is not shared, such as that of the Go heap.
func Drop(b *unimem.Block) {
	if kind := b.Backing(); kind != "memfd" && kind != "shm" {
		return
	}
	mem := b.Bytes()
	if len(mem) == 0 {
		return
	}
	if unix.Madvise(mem, unix.MADV_DONTNEED_LOCKED) != nil { // Linux before 5.18
		_ = unix.Madvise(mem, unix.MADV_DONTNEED) // advice; pinned pages stay
	}
}

// Release returns the whole pages among n bytes of a mapped file to the system, which brings them back when they are
// read again.
func Release(b *unimem.Block, offset, n int) {
	page := os.Getpagesize()
	from := (offset + page - 1) / page * page // a mapping begins with a page
	if to := (offset + n) / page * page; from < to {
		_ = unix.Madvise(b.Bytes()[from:to], unix.MADV_DONTNEED) // advice; the pages may as well stay
	}
}

// Populate maps the pages of n bytes of a mapped file, which are read if they are not in memory. It reports false where
// the file has become shorter, and before Linux 5.14. Single pages that were not in memory, or that the system held at
// that moment, are left to their first access.
func Populate(b *unimem.Block, offset, n int) bool {
	mem := b.Bytes()[offset/os.Getpagesize()*os.Getpagesize() : offset+n]
	return n == 0 || around(mem) || unix.Madvise(mem, unix.MADV_POPULATE_READ) == nil
}

// around maps the pages of mem by one of each 64 KiB: Linux maps those around it too, if they are in memory, and to
// look at each page takes a quarter of the time. It reports false if a page was not in memory, or there is none.
func around(mem []byte) bool {
	const window, often = 64 << 10, 1 << 20
	page, before := os.Getpagesize(), reads()
	for at := 0; at < len(mem)+window; at += window {
		first := min(at, len(mem)-1) / page * page // at last that of the last window
		fine := unix.Madvise(mem[first:min(first+page, len(mem))], unix.MADV_POPULATE_READ) == nil
		if !fine || at%often == 0 && reads() != before {
			return false
		}
	}
	return reads() == before
}

// reads counts the faults of the process that had to read a file.
func reads() int64 {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return -1
	}
	return int64(r.Majflt)
}
