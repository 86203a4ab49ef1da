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
	base
	file *os.File
	from int64 // offset in the file

	mu     sync.Mutex
	others []uintptr // addresses of further mappings
}

// mapFile maps the pages of size bytes of f from offset on, with a descriptor of its own.
func mapFile(f *os.File, offset int64, size int) (backing, error) {
	fd, err := duplicate(f)
	if err != nil {
		return nil, createError(opMapFile, "fcntl(F_DUPFD_CLOEXEC)", size, err)
	}
	if err := checkMapFile(fd, size); err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, err
	}
	pages, err := mapPages(fd, offset, size)
	if err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, createError(opMapFile, "mmap", size, err)
	}
	return &mapped{file: os.NewFile(uintptr(fd), f.Name()), from: offset, base: base{
		region: region{mem: pages[:size:size], pages: pages, handle: uintptr(fd), id: process.nextID(), kind: kindFile,
			unpinned: fail(opPin, size, ErrPin,
				"the pages of a mapped file belong to the page cache: read the file into a Tape")},
		unshared: "a file cannot be sealed, so its owner could truncate it: read the file into a Tape",
	}}, nil
}

// mapPages maps size bytes of a file from offset on. The result is whole pages of PageSize. Bytes after the last page of
// the system that has bytes of the file would fault, so anonymous pages follow it: they read as zero.
func mapPages(fd int, offset int64, size int) ([]byte, error) {
	up := func(page int) int { return (size + page - 1) / page * page }
	whole, ofFile := up(PageSize), up(os.Getpagesize())
	if whole == ofFile {
		return unix.Mmap(fd, offset, whole, unix.PROT_READ, unix.MAP_SHARED)
	}
	pages, err := unix.Mmap(-1, 0, whole, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil {
		if err = mapOver(pages[:ofFile], fd, offset); err != nil {
			_ = unix.Munmap(pages) // the first failure is the one to report
		}
	}
	return pages, err
}

func (m *mapped) key() Key {
	if m.from > 0 {
		return fileKey(int(m.handle), kindFile+"@"+strconv.FormatInt(m.from, 10))
	}
	return fileKey(int(m.handle), kindFile)
}

func (m *mapped) remap() ([]byte, func() error, error) {
	pages, err := mapPages(int(m.handle), m.from, len(m.mem))
	if err != nil {
		return nil, nil, createError(opMap, "mmap", len(m.mem), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := address(pages)
	m.others = append(m.others, at)
	return pages[:len(m.mem):len(m.mem)], func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.others = slices.DeleteFunc(m.others, func(other uintptr) bool { return other == at })
		return unix.Munmap(pages)
	}, nil
}

func (m *mapped) place(at uintptr) (uintptr, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, start := range append([]uintptr{address(m.mem)}, m.others...) {
		if at-start < uintptr(len(m.pages)) {
			return at - start, true
		}
	}
	return 0, false
}

// shrunk counts a file whose size cannot be read as shrunk.
func (m *mapped) shrunk() bool {
	info, err := m.file.Stat()
	return err != nil || info.Size() < m.from+int64(len(m.mem))
}

func (m *mapped) close(bool) error { return errors.Join(unix.Munmap(m.pages), m.file.Close()) }

// fileKey is the zero Key if the system does not tell.
func fileKey(fd int, kind string) Key {
	var file unix.Stat_t
	if retry(func() error { return unix.Fstat(fd, &file) }) != nil {
		return Key{}
	}
	return Key{kind, uint64(file.Dev), file.Ino}
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

// createError makes the error of a failed system call.
func createError(op, step string, size int, err error) *Error {
	hint, cause := "", fmt.Errorf("%s: %w", step, err)
	switch {
	case errors.Is(err, unix.EMFILE):
		hint = "each Block needs a file descriptor: close idle Blocks, or raise the limit (ulimit -n)"
	case errors.Is(err, unix.ENFILE):
		hint = "the system has no file descriptor left: close idle Blocks, or raise the limit (sysctl fs.file-max)"
	case errors.Is(err, unix.ENOSPC):
		hint = "close idle Blocks, or enlarge the file system (mount -o remount,size=... /dev/shm)"
	case errors.Is(err, unix.ENOMEM):
		hint = "close idle Blocks, open a smaller one, or raise the limit on address space (ulimit -v)"
	case op == "adopt" && errors.Is(err, unix.EACCES):
		return because(op, size, ErrCreate, cause,
			"the descriptor does not allow reading and writing: pass the one of Share")
	default:
		return because(op, size, ErrCreate, cause, "")
	}
	return because(op, size, ErrCreate, exhausted(cause), hint)
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
