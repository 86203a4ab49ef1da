//go:build !macrules

package unimem

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem/internal/huge"
)

// adoptFile maps size bytes of a file from another owner.
func adoptFile(f *os.File, size int) (backing, error) {
	fd, err := duplicate(f)
	if err != nil {
		e := createError("adopt", "fcntl(F_DUPFD_CLOEXEC)", size, err)
		if errors.Is(err, os.ErrClosed) {
			e.Err, e.Hint = ErrShare, "the file is closed: adopt it before closing it"
		}
		return nil, e
	}
	mem, err := mapForeign(fd, size)
	if err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, err
	}
	return &adoptedMemfd{newMemfd(mem, fd, kindMemfd)}, nil
}

// mapForeign checks the file before mapping it. Seals cannot be removed, so the result of
// the check stays valid.
func mapForeign(fd, size int) ([]byte, error) {
	if err := checkSeals(fd, size); err != nil {
		return nil, err
	}
	if err := checkFile(fd, size); err != nil {
		return nil, err
	}
	mem, err := huge.Map(fd, size)
	if err != nil {
		e := createError("adopt", "mmap", size, err)
		if errors.Is(err, unix.EACCES) {
			e.Hint = "the descriptor does not allow reading and writing: pass the one of Share"
		}
		return nil, e
	}
	return mem, nil
}

func checkSeals(fd, size int) error {
	const need = unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	switch {
	case err != nil: // directories, sockets, pipes and files on disks have no seals
		return &Error{Op: "adopt", Size: size, Err: ErrShare, Cause: fmt.Errorf("fcntl(F_GET_SEALS): %w", err),
			Hint: "pass the memfd of Share"}
	case got&need != need:
		return &Error{Op: "adopt", Size: size, Err: ErrSeal, Cause: fmt.Errorf("seals %#x, not %#x", got, need),
			Hint: "add F_SEAL_SHRINK and F_SEAL_SEAL, or share a Block"}
	case got&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE) != 0:
		return &Error{Op: "adopt", Size: size, Err: ErrSeal, Cause: fmt.Errorf("seals %#x forbid writing", got),
			Hint: "share writable memory"}
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
		return &Error{Op: "adopt", Size: size, Err: ErrCreate,
			Cause: fmt.Errorf("%w: the file has %d bytes", ErrSize, file.Size),
			Hint:  "adopt no more bytes than were shared; sizes round up to whole pages of 16 KiB"}
	}
	return nil
}

// adoptedMemfd is memory from another owner.
type adoptedMemfd struct{ *memfd }

// warm only reads, because another owner may be writing.
func (m *adoptedMemfd) warm() error {
	err := m.populate()
	if err == nil {
		look(m.mem)
	}
	return err
}

// checkMapFile refuses a range that ends within a huge page: the system maps all of the page, and refuses to unmap a
// part.
func checkMapFile(fd, size int) error {
	huge, err := hugePage(fd)
	if err != nil || huge == 0 || int64(size)%huge == 0 {
		return err
	}
	return &Error{Op: opMapFile, Size: size, Err: ErrShare,
		Cause: fmt.Errorf("the file has huge pages of %d bytes", huge),
		Hint:  "map whole huge pages, or read the file into a Tape"}
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
