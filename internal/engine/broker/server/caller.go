package server

import (
	"log/slog"
	"strconv"
)

// caller is what the log calls a client: what the kernel knew of it when it connected. The
// path is that of a file that may have been replaced since; Identity is what counts.
type caller struct {
	pid        int
	user       uint32
	executable string
	file       hashKey // of the executable, when the connection was taken; zero if that could not be read
	start      uint64  // when the process began, likewise; 0 if that could not be read
}

// hashKey tells one content of an executable from another: it cannot be written while it runs, and a change before or
// after that moves its times.
type hashKey struct {
	device, inode uint64
	size          int64
	mtime, ctime  int64 // nanoseconds
}

// changed reports whether the process runs another executable than when its connection was taken, or that one was
// changed meanwhile, or its number has passed to another process.
func (p caller) changed() bool {
	if p.file == (hashKey{}) {
		return false
	}
	if start, err := startOf(p.pid); p.start != 0 && (err != nil || start != p.start) {
		return true
	}
	return !runs(p.pid, p.file)
}

func exePath(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/exe" }

// attrs are what each line about the process has.
func (p caller) attrs() []any {
	return []any{slog.Int(pidKey, p.pid), slog.String("executable", p.executable), slog.Uint64("user", uint64(p.user))}
}

// name is what errors call the process.
func (p caller) name() string { return "process " + strconv.Itoa(p.pid) }
