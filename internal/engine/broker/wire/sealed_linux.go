//go:build !macrules

package wire

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// seals freeze a file: neither its size nor its bytes nor its seals can change.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL

// Seal makes a memfd that holds the parts one after another and can never change. The
// caller closes it; the receiver of a frame keeps its own. The name is for /proc.
func Seal(name string, parts ...[]byte) (*os.File, error) {
	return sealedFile("seal", name, seals, func(f *os.File) error {
		for _, p := range parts {
			if _, err := f.Write(p); err != nil {
				return socketError("seal", "write", err)
			}
		}
		return nil
	})
}

// sealedFile makes a memfd, has fill give it its size and bytes, and seals it.
func sealedFile(op, name string, seals int, fill func(*os.File) error) (*os.File, error) {
	fd, err := unix.MemfdCreate("wire-"+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, socketError(op, "memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	err = fill(f)
	if err == nil {
		if _, errno := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); errno != nil {
			err = socketError(op, "fcntl(F_ADD_SEALS)", errno)
		}
	}
	if err != nil {
		_ = f.Close() // the first failure is the one to report
		return nil, err
	}
	return f, nil
}

// CheckSeals refuses, with ErrSeal, a descriptor that is no memfd or lacks one of the wanted seals. For the former the
// system's error is the cause.
func CheckSeals(op string, fd, want int) error {
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return &Error{Op: op, Err: ErrSeal, Cause: fmt.Errorf("fcntl(F_GET_SEALS): %w", err), Hint: "send a memfd"}
	}
	if missing := want &^ got; missing != 0 {
		return &Error{Op: op, Err: ErrSeal, Detail: fmt.Sprintf("seals %#x are missing", missing),
			Hint: "make the file with this package"}
	}
	return nil
}

// sealedStat describes a memfd of at most limit bytes that has the wanted seals.
func sealedStat(op string, fd, want, limit int) (s unix.Stat_t, err error) {
	if err := CheckSeals(op, fd, want); err != nil {
		return s, err
	}
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return s, socketError(op, "fstatfs", err)
	}
	if uint32(system.Type) == unix.HUGETLBFS_MAGIC { // a mapping of part of a huge page cannot be undone
		return s, &Error{Op: op, Err: ErrSeal, Detail: "huge pages", Hint: "make the file with this package"}
	}
	if err := unix.Fstat(fd, &s); err != nil {
		return s, socketError(op, "fstat", err)
	}
	if s.Size > int64(limit) {
		return s, &Error{Op: op, Err: ErrLong, Detail: fmt.Sprintf("%d bytes, at most %d", s.Size, limit)}
	}
	return s, nil
}

// ReadSealed copies a file made by Seal, of at most limit bytes. The descriptor stays the
// caller's. Errors: ErrSeal, ErrLong, ErrSocket.
func ReadSealed(fd, limit int) ([]byte, error) {
	s, err := KeepSealed(fd, limit)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Map(); err != nil {
		return nil, err
	}
	return bytes.Clone(s.mem), nil
}

// KeepSealed keeps a file made by Seal, of at most limit bytes. The descriptor stays the
// caller's and is not needed any longer. Errors: ErrSeal, ErrLong, ErrSocket.
func KeepSealed(fd, limit int) (*Sealed, error) {
	const op = "keep sealed"
	s, err := sealedStat(op, fd, seals, limit)
	if err != nil {
		return nil, err
	}
	if s.Size == 0 { // nothing to keep
		return &Sealed{}, nil
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, socketError(op, "fcntl(F_DUPFD_CLOEXEC)", err)
	}
	return &Sealed{fd: own, size: int(s.Size), file: [2]uint64{uint64(s.Dev), s.Ino}}, nil
}

// Map maps the file without copying it, once, and closes the descriptor. Errors: ErrSocket.
func (s *Sealed) Map() error {
	if s.size == 0 || s.mem != nil {
		return nil
	}
	mem, err := unix.Mmap(s.fd, 0, s.size, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return socketError("map sealed", "mmap", err)
	}
	fd := s.fd
	s.mem, s.fd = mem, -1
	return unix.Close(fd)
}

// Close gives back the descriptor and the mapping, once; repeating it returns nil.
func (s *Sealed) Close() error {
	if s == nil || s.size == 0 {
		return nil
	}
	var unmap, closing error
	if s.mem != nil {
		unmap = unix.Munmap(s.mem)
	}
	if s.fd >= 0 {
		closing = unix.Close(s.fd)
	}
	*s = Sealed{}
	return errors.Join(unmap, closing)
}
