//go:build !macrules

package unimem

import (
	"errors"
	"fmt"
	"math"
	"os"

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

// memfd is an anonymous file mapped shared: its descriptor is the handle, which any process can map again.
type memfd struct {
	base
	fd int
}

// openSystem opens memory of this system.
func openSystem(size int) (backing, error) {
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
		if errors.Is(err, unix.EFBIG) && fileLimit() < uint64(size) {
			return openHeap(size, "the limit on the size of files is below the Block: raise RLIMIT_FSIZE (ulimit -f, "+
				"LimitFSIZE of a service)")
		}
		return nil, createError("open", step, size, err)
	}
	return mapMemfd("open", fd, size, kindMemfd)
}

// sizeMemfd sizes and seals a new memfd. step is the system call that failed.
func sizeMemfd(fd, size int) (step string, err error) {
	if err := retry(func() error { return unix.Ftruncate(fd, int64(size)) }); err != nil {
		return "ftruncate", err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	return "fcntl(F_ADD_SEALS)", err
}

// fileLimit is RLIMIT_FSIZE, which counts for memfds and for files in shared memory too.
func fileLimit() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
		return math.MaxUint64
	}
	return l.Cur
}

// mapMemfd maps size bytes of a file. It takes ownership of fd: after an error it is closed.
func mapMemfd(op string, fd, size int, kind string) (backing, error) {
	mem, err := huge.Map(fd, size)
	if err != nil {
		_ = unix.Close(fd) // the first failure is the one to report
		return nil, createError(op, "mmap", size, err)
	}
	m := &memfd{fd: fd, base: base{region: region{mem: mem, handle: uintptr(fd), id: process.nextID(), kind: kind}}}
	if err := lockOnFault(mem); err != nil {
		hint := "raise the locked-memory limit (ulimit -l), or open without RequirePinned"
		if errors.Is(err, unix.ENOSYS) {
			hint = "this kernel or emulator has no mlock2, which Linux has since 4.4: open without RequirePinned"
		}
		m.unpinned = because(opPin, size, ErrPin, fmt.Errorf("mlock2: %w", err), hint)
	}
	return m, nil
}

func (m *memfd) key() Key { return fileKey(m.fd, m.kind) }

// warm makes the kernel allocate all pages at once, huge ones where it can, which is faster than touching
// them and reports a lack of memory as an error. Kernels before 5.14 do not support the request.
func (m *memfd) warm() error {
	huge.Back(m.mem)
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
	if m.kind == kindShm {
		return nil, fail("share", len(m.mem), ErrShare,
			"a file in /dev/shm cannot be sealed, so another process could truncate it: permit memfd_create")
	}
	fd, err := unix.FcntlInt(m.handle, unix.F_DUPFD_CLOEXEC, 0)
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

// openShm opens a Block on an unlinked file in shared memory, because memfd_create failed with cause. The file system
// may be smaller than the memory, and touching a page beyond it ends the process, so all pages are allocated at once.
func openShm(size int, cause error) (backing, error) {
	fd, err := unix.Open(shmFolder, unix.O_RDWR|unix.O_CLOEXEC|unix.O_EXCL|unix.O_TMPFILE, 0o600)
	step := "open in " + shmFolder
	if err == nil {
		step = "fallocate in " + shmFolder
		err = retry(func() error { return unix.Fallocate(fd, 0, 0, int64(size)) })
		if err != nil {
			_ = unix.Close(fd) // the first failure is the one to report
		}
	}
	if err != nil {
		return nil, createError("open", step, size, fmt.Errorf("%w (memfd_create: %w)", err, cause))
	}
	return mapMemfd("open", fd, size, kindShm)
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
