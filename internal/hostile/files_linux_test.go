//go:build !macrules

package hostile

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Seals of a program's files, and of surfaces and bells.
const (
	frozen  = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	surface = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
)

// memfd is a memory file of a size, with seals and the bytes at its beginning. It returns -1 without one.
func memfd(size int64, seals int, begin []byte) int {
	fd, err := unix.MemfdCreate("hostile", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1
	}
	_ = unix.Ftruncate(fd, size)
	if len(begin) > 0 {
		_, _ = unix.Pwrite(fd, begin, 0)
	}
	if seals != 0 {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	return fd
}

// odd makes the wrong kinds of descriptors. Those that the system refuses are -1.
var odd = []struct {
	name string
	open func() int
}{
	{"read end of a pipe", func() int { return pipe(0) }},
	{"write end of a pipe", func() int { return pipe(1) }},
	{"unix socket", func() int { return first(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)) }},
	{"tcp socket", func() int { return first(unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)) }},
	{"netlink socket", func() int { return first(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)) }},
	{"folder", func() int { return open("/", unix.O_RDONLY) }},
	{"/dev/zero", func() int { return open("/dev/zero", unix.O_RDWR) }},
	{"/dev/null", func() int { return open("/dev/null", unix.O_RDWR) }},
	{"/proc/self/mem", func() int { return open("/proc/self/mem", unix.O_RDWR) }},
	{"own executable", func() int { return open("/proc/self/exe", unix.O_RDONLY) }},
	{"path descriptor", func() int { return open("/proc/self/exe", unix.O_PATH) }},
	{"terminal", func() int { return open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY) }},
	{"fifo", fifo},
	{"eventfd", func() int { return first(unix.Eventfd(0, unix.EFD_CLOEXEC)) }},
	{"epoll", func() int { return first(unix.EpollCreate1(unix.EPOLL_CLOEXEC)) }},
	{"pidfd", func() int { return first(unix.PidfdOpen(os.Getpid(), 0)) }},
	{"timerfd", func() int { return first(unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)) }},
	{"signalfd", func() int { return first(unix.Signalfd(-1, &unix.Sigset_t{}, unix.SFD_CLOEXEC)) }},
	{"inotify", func() int { return first(unix.InotifyInit1(unix.IN_CLOEXEC)) }},
	{"memfd without seals", func() int { return memfd(1<<14, 0, nil) }},
	{"memfd that shrank", func() int {
		fd := memfd(1<<14, unix.F_SEAL_GROW, nil)
		_ = unix.Ftruncate(fd, 1)
		return fd
	}},
	{"empty memfd", func() int { return memfd(0, frozen, nil) }},
	{"memfd of half a TiB of holes", func() int { return memfd(1<<39, frozen, nil) }},
	{"surface of half a TiB of holes", func() int { return memfd(1<<39, surface, nil) }},
	{"memfd of an odd size", func() int { return memfd(16385, surface, nil) }},
	{"memfd of huge pages", func() int {
		fd := first(unix.MemfdCreate("hostile", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_HUGETLB))
		if fd >= 0 {
			_ = unix.Ftruncate(fd, 2<<20)
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, surface)
		}
		return fd
	}},
	{"memfd that is only readable", func() int {
		fd := memfd(1<<14, surface, nil)
		defer unix.Close(fd)
		return open("/proc/self/fd/"+itoa(fd), unix.O_RDONLY)
	}},
}

func first(fd int, err error) int {
	if err != nil {
		return -1
	}
	return fd
}

func open(path string, flags int) int {
	return first(unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0))
}

// pipe returns one end; the other one is closed.
func pipe(end int) int {
	var p [2]int
	if unix.Pipe2(p[:], unix.O_CLOEXEC) != nil {
		return -1
	}
	_ = unix.Close(p[1-end])
	return p[end]
}

func fifo() int {
	dir, err := os.MkdirTemp("", "fifo")
	if err != nil {
		return -1
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "f")
	if unix.Mkfifo(name, 0o600) != nil {
		return -1
	}
	return open(name, unix.O_RDWR)
}
