//go:build !macrules

package unimem

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// adoptFile maps size bytes of a file from another owner. It checks the file before mapping it; seals cannot be
// removed, so the result stays valid.
func adoptFile(f *os.File, size int) (backing, error) {
	fd, err := duplicate(f)
	if errors.Is(err, os.ErrClosed) {
		return nil, because("adopt", size, ErrShare, err, "the file is closed: adopt it before closing it")
	}
	if err != nil {
		return nil, createError("adopt", "fcntl(F_DUPFD_CLOEXEC)", size, err)
	}
	if err := cmp.Or(checkSeals(fd, size), checkFile(fd, size)); err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, err
	}
	return mapMemfd("adopt", fd, size, kindMemfd)
}

func checkSeals(fd, size int) error {
	const need = unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	switch {
	case err != nil: // directories, sockets, pipes and files on disks have no seals
		return because("adopt", size, ErrShare, fmt.Errorf("fcntl(F_GET_SEALS): %w", err), "pass the memfd of Share")
	case got&need != need:
		return because("adopt", size, ErrSeal, fmt.Errorf("seals %#x, not %#x", got, need),
			"add F_SEAL_SHRINK and F_SEAL_SEAL, or share a Block")
	case got&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE) != 0:
		return because("adopt", size, ErrSeal, fmt.Errorf("seals %#x forbid writing", got), "share writable memory")
	}
	return nil
}

// checkFile refuses files shorter than size, and huge pages: touching them ends the process
// if the system has none left.
func checkFile(fd, size int) error {
	var file unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &file) }); err != nil {
		return createError("adopt", "fstat", size, err)
	}
	huge, err := hugePage(fd)
	if err != nil {
		return createError("adopt", "fstatfs", size, err)
	}
	switch {
	case huge > 0:
		return fail("adopt", size, ErrShare, "make the memfd without MFD_HUGETLB")
	case file.Size < int64(size):
		return because("adopt", size, ErrCreate, fmt.Errorf("%w: the file has %d bytes", ErrSize, file.Size),
			"adopt no more bytes than were shared; sizes round up to whole pages of 16 KiB")
	}
	return nil
}

// checkMapFile refuses a range that ends within a huge page: the system maps all of the page, and refuses to unmap a
// part.
func checkMapFile(fd, size int) error {
	huge, err := hugePage(fd)
	if err != nil || huge == 0 || int64(size)%huge == 0 {
		return err
	}
	return because(opMapFile, size, ErrShare, fmt.Errorf("the file has huge pages of %d bytes", huge),
		"map whole huge pages, or read the file into a Tape")
}

// hugePage returns the size of the huge pages that a file consists of, 0 for other files.
func hugePage(fd int) (int64, error) {
	var system unix.Statfs_t
	err := retry(func() error { return unix.Fstatfs(fd, &system) })
	if err != nil || uint32(system.Type) != unix.HUGETLBFS_MAGIC {
		return 0, err
	}
	return system.Bsize, nil
}
