//go:build !macrules

package unimem

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem/internal/huge"
)

const (
	kindMemfd = "memfd"
	kindShm   = "shm" // an unlinked file in /dev/shm
)

// seals forbid changing the file's size and changing seals, so that another owner of the
// descriptor cannot make a mapping fault by truncating the file.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// memfd is an anonymous file mapped shared: its descriptor is the handle, which any process
// can map again.
type memfd struct {
	mem    []byte
	fd     int
	number uint32
	unlock error               // why pages are not locked, or nil
	medium string              // the kind
	name   atomic.Pointer[Key] // nil until it is asked for
}

func openBacking(size int, c config) (backing, error) {
	switch {
	case c.Heap:
		return openHeap(size)
	case c.Table != nil:
		return openSurface(c.Table, size)
	}
	return openMemfd(size)
}

func openMemfd(size int) (backing, error) {
	fd, err := unix.MemfdCreate("unimem", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // an old kernel, or a filter of system calls
		return openShm(size, err)
	case err != nil:
		return nil, createError("open", "memfd_create", size, err)
	}
	step, err := sizeMemfd(fd, size)
	if err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, createError("open", step, size, err)
	}
	return mapNew(fd, size, kindMemfd)
}

// sizeMemfd sizes and seals a new memfd. step is the system call that failed.
func sizeMemfd(fd, size int) (step string, err error) {
	if err := retry(func() error { return unix.Ftruncate(fd, int64(size)) }); err != nil {
		return "ftruncate", err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	return "fcntl(F_ADD_SEALS)", err
}

// mapNew maps a new file of size bytes. It takes ownership of fd: after an error it is closed.
func mapNew(fd, size int, kind string) (backing, error) {
	mem, err := huge.Map(fd, size)
	if err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, createError("open", "mmap", size, err)
	}
	return newMemfd(mem, fd, kind), nil
}

func newMemfd(mem []byte, fd int, kind string) *memfd {
	return &memfd{mem: mem, fd: fd, number: process.nextID(), unlock: lockOnFault(mem), medium: kind}
}

func createError(op, step string, size int, err error) *Error {
	e := &Error{Op: op, Size: size, Err: ErrCreate, Cause: fmt.Errorf("%s: %w", step, err)}
	switch {
	case errors.Is(err, unix.EMFILE):
		e.Hint = "each Block needs a file descriptor: close idle Blocks, or raise the limit (ulimit -n)"
	case errors.Is(err, unix.ENFILE):
		e.Hint = "the system has no file descriptor left: close idle Blocks, or raise the limit (sysctl fs.file-max)"
	case errors.Is(err, unix.ENOSPC):
		e.Hint = "close idle Blocks, or enlarge the file system (mount -o remount,size=... /dev/shm)"
	case errors.Is(err, unix.ENOMEM):
		e.Hint = "close idle Blocks, open a smaller one, or raise the limit on address space (ulimit -v)"
	default:
		return e
	}
	e.Cause = exhausted(e.Cause)
	return e
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (m *memfd) bytes() []byte   { return m.mem }
func (m *memfd) handle() uintptr { return uintptr(m.fd) }
func (m *memfd) id() uint32      { return m.number }
func (m *memfd) kind() string    { return m.medium }

// key asks the system at the first call only: it takes a tenth of the time of opening a Block.
func (m *memfd) key(open bool) Key {
	if known := m.name.Load(); known != nil {
		return *known
	}
	var file unix.Stat_t
	if !open || retry(func() error { return unix.Fstat(m.fd, &file) }) != nil {
		return Key{}
	}
	k := Key{m.medium, uint64(file.Dev), file.Ino}
	m.name.Store(&k)
	return k
}

func (m *memfd) unpinned() error {
	if m.unlock == nil {
		return nil
	}
	e := &Error{Op: opPin, Size: len(m.mem), Err: ErrPin, Cause: fmt.Errorf("mlock2: %w", m.unlock),
		Hint: "raise the locked-memory limit (ulimit -l), or open without RequirePinned"}
	if errors.Is(m.unlock, unix.ENOSYS) {
		e.Hint = "this kernel or emulator has no mlock2, which Linux has since 4.4: open without RequirePinned"
	}
	return e
}

// warm makes the kernel allocate all pages at once, huge ones where it can, which is faster than touching
// them and reports a lack of memory as an error. Kernels before 5.14 do not support the request and
// emulators ignore it, so warm touches the pages as well; that is fast for present pages.
func (m *memfd) warm() error {
	huge.Back(m.mem)
	err := m.populate()
	if err == nil {
		touch(m.mem)
	}
	return err
}

// populate makes the kernel allocate all pages without changing their bytes. It ignores
// kernels that do not support the request.
func (m *memfd) populate() error {
	err := retry(func() error { return unix.Madvise(m.mem, unix.MADV_POPULATE_WRITE) })
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return createError("warm", "madvise(MADV_POPULATE_WRITE)", len(m.mem), err)
	}
	return nil
}

func (m *memfd) remap() ([]byte, func() error, error) {
	mem, err := huge.Map(m.fd, len(m.mem))
	if err != nil {
		return nil, nil, createError(opMap, "mmap", len(m.mem), err)
	}
	return mem, func() error { return huge.Unmap(mem) }, nil
}

// share duplicates the descriptor. The caller retains the Block.
func (m *memfd) share() (*os.File, error) {
	if m.kind() == kindShm {
		return nil, fail("share", len(m.mem), ErrShare,
			"a file in /dev/shm cannot be sealed, so another process could truncate it: permit memfd_create")
	}
	fd, err := unix.FcntlInt(uintptr(m.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, createError("share", "fcntl(F_DUPFD_CLOEXEC)", len(m.mem), err)
	}
	return os.NewFile(uintptr(fd), "memfd:unimem"), nil
}

func (m *memfd) close(poison bool) error {
	drop := huge.Unmap
	if poison {
		drop = mapNothing
	}
	return errors.Join(drop(m.mem), unix.Close(m.fd))
}

// memoryOf describes machineMemory in messages.
const memoryOf = "this machine has no more memory and swap"

// machineMemory is memory and swap in bytes.
func machineMemory() uint64 {
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return fallbackMemory
	}
	return (uint64(s.Totalram) + uint64(s.Totalswap)) * uint64(s.Unit)
}

// shmFolder is the file system of shared memory.
const shmFolder = "/dev/shm"

// openShm opens a Block on an unlinked file in shared memory, because memfd_create failed with
// cause. The file system may be smaller than the memory, and touching a page beyond it ends the
// process, so all pages are allocated at once.
func openShm(size int, cause error) (backing, error) {
	fd, err := createShm()
	step := "open in " + shmFolder
	if err == nil {
		step = "fallocate in " + shmFolder
		err = retry(func() error { return unix.Fallocate(fd, 0, 0, int64(size)) })
		if err != nil {
			_ = unix.Close(fd) // the first failure is the one to report
		}
	}
	if err != nil {
		e := createError("open", step, size, err)
		e.Cause = fmt.Errorf("memfd_create: %w; %w", cause, e.Cause)
		return nil, e
	}
	return mapNew(fd, size, kindShm)
}

// createShm returns a new file without a name.
func createShm() (int, error) {
	const flags, mode = unix.O_RDWR | unix.O_CLOEXEC | unix.O_EXCL, 0o600
	fd, err := unix.Open(shmFolder, flags|unix.O_TMPFILE, mode)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) {
		return fd, err
	}
	name := fmt.Sprintf("%s/unimem-%016x", shmFolder, rand.Uint64()) // a system without O_TMPFILE
	if fd, err = unix.Open(name, flags|unix.O_CREAT|unix.O_NOFOLLOW, mode); err != nil {
		return -1, err
	}
	if err := unix.Unlink(name); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// arena is the unit in bytes in which the Go runtime takes addresses from the system.
const arena = 64 << 20

// systemRoom asks the kernel for as many addresses as the runtime would for size bytes more. The answer covers the
// limits on address space and data, and strict accounting of memory.
func systemRoom(size int) room {
	need := (size+PageSize+arena-1)/arena*arena + arena // the runtime's own tables too
	err := tryMap(need)
	if err == nil {
		return unlimited()
	}
	return room{limit: fmt.Sprintf("a limit on addresses or data (mmap of %d bytes: %v)", need, err),
		hint: "raise the limit (ulimit -v, ulimit -d)"}
}

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
