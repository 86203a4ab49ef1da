//go:build linux || darwin

package unimem

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// mapped is a file mapped read-only. Its descriptor is the handle.
type mapped struct {
	mem    []byte
	file   *os.File
	number uint32
	name   Key
	from   int64 // offset in the file

	mu     sync.Mutex
	others []uintptr // addresses of further mappings
}

// mapFile maps size bytes of f from offset on, with a descriptor of its own.
func mapFile(f *os.File, offset int64, size int) (backing, error) {
	refused := func(step string, err error) error {
		e := &Error{Op: opMapFile, Size: size, Err: ErrCreate, Cause: fmt.Errorf("%s: %w", step, err)}
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) {
			e.Cause = exhausted(e.Cause)
			e.Hint = "close idle files and Blocks, or raise the limits (ulimit -n, ulimit -v)"
		}
		return e
	}
	fd, err := duplicate(f)
	if err != nil {
		return nil, refused("fcntl(F_DUPFD_CLOEXEC)", err)
	}
	var file unix.Stat_t
	if err := unix.Fstat(fd, &file); err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, refused("fstat", err)
	}
	if err := checkMapFile(fd, size); err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, err
	}
	mem, err := unix.Mmap(fd, offset, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, refused("mmap", err)
	}
	name := Key{kindFile, uint64(file.Dev), file.Ino}
	if offset > 0 {
		name.Kind += "@" + strconv.FormatInt(offset, 10)
	}
	return &mapped{mem: mem, file: os.NewFile(uintptr(fd), f.Name()), number: process.nextID(), name: name,
		from: offset}, nil
}

// duplicate returns a new descriptor of f's file. It duplicates inside of Control, so that
// a concurrent Close of f cannot give the number to another file.
func duplicate(f *os.File) (fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	if raw.Control(func(p uintptr) { fd, err = unix.FcntlInt(p, unix.F_DUPFD_CLOEXEC, 0) }) != nil {
		return -1, os.ErrClosed // the only error of Control
	}
	return fd, err
}

func (m *mapped) bytes() []byte   { return m.mem }
func (m *mapped) handle() uintptr { return m.file.Fd() }
func (m *mapped) id() uint32      { return m.number }
func (m *mapped) key(bool) Key    { return m.name }
func (m *mapped) kind() string    { return kindFile }
func (m *mapped) warm() error     { look(m.mem); return nil }

func (m *mapped) unpinned() error {
	return fail(opPin, len(m.mem), ErrPin,
		"the pages of a mapped file belong to the page cache: read the file into a Tape")
}

func (m *mapped) remap() ([]byte, func() error, error) {
	mem, err := unix.Mmap(int(m.file.Fd()), m.from, len(m.mem), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, &Error{Op: opMap, Size: len(m.mem), Err: ErrCreate, Cause: fmt.Errorf("mmap: %w", err)}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := address(mem)
	m.others = append(m.others, at)
	return mem, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.others = slices.DeleteFunc(m.others, func(other uintptr) bool { return other == at })
		return unix.Munmap(mem)
	}, nil
}

func (m *mapped) place(at uintptr) (uintptr, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, base := range append([]uintptr{address(m.mem)}, m.others...) {
		if at-base < uintptr(len(m.mem)) {
			return at - base, true
		}
	}
	return 0, false
}

func (m *mapped) share() (*os.File, error) {
	return nil, fail("share", len(m.mem), ErrShare,
		"a file cannot be sealed, so its owner could truncate it: read the file into a Tape")
}

// shrunk counts a file whose size cannot be read as shrunk.
func (m *mapped) shrunk() bool {
	info, err := m.file.Stat()
	return err != nil || info.Size() < m.from+int64(len(m.mem))
}

func (m *mapped) close(bool) error { return errors.Join(unix.Munmap(m.mem), m.file.Close()) }
