//go:build !macrules

package server

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// keep returns a file of its own for a descriptor of a surface, if no process can cut its
// memory short. That no page of it can vanish is checked again, with all
// else, when it is mapped.
func keep(fd int, size uint64) (*os.File, fileID, error) {
	if err := wire.CheckSeals("surface", fd, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		what := unimem.ErrSeal
		if e, ok := errors.AsType[*wire.Error](err); ok && e.Cause != nil { // it is no memfd
			what = unimem.ErrShare
		}
		return nil, fileID{}, &ane.Error{Op: "surface", Engine: Name, Err: ane.Because(what, err),
			Hint: "send the descriptor that Block.Share returns"}
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
