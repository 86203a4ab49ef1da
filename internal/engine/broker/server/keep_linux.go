package server

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// keep returns a file of its own for a descriptor of a surface, if its memory cannot
// be cut short by anybody. That no page of it can vanish is checked again, with all
// else, when it is mapped.
func keep(fd int, size uint64) (*os.File, fileID, error) {
	const need = unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return nil, fileID{}, &ane.Error{Op: "surface", Engine: Name, Err: ane.Because(unimem.ErrShare, err), Detail: "no memfd",
			Hint: "send the descriptor that Block.Share returns"}
	}
	if got&need != need {
		return nil, fileID{}, &ane.Error{Op: "surface", Engine: Name, Err: unimem.ErrSeal,
			Detail: fmt.Sprintf("seals %#x, and F_SEAL_SHRINK and F_SEAL_SEAL are needed", got), Hint: "send the descriptor that Block.Share returns"}
	}
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, fileID{}, &ane.Error{Op: "surface", Engine: Name, Err: err}
	}
	if uint64(s.Size) < size {
		return nil, fileID{}, &ane.Error{Op: "surface", Engine: Name, Err: ane.ErrShort,
			Detail: fmt.Sprintf("the memfd has %d bytes of %d", s.Size, size), Hint: "register the size of the Block"}
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fileID{}, &ane.Error{Op: "surface", Engine: Name, Err: ane.Because(ane.ErrExhausted, err),
			Hint: "drop surfaces, or raise the broker's limit on open files"}
	}
	return os.NewFile(uintptr(own), "surface"), fileID{uint64(s.Dev), s.Ino}, nil
}
