package server

import (
	"io/fs"
	"log/slog"
	"os"
	"strconv"
)

// caller is what the log calls a client: what the kernel knew of it when it connected. The
// path is that of a file that may have been replaced since; Identity is what counts.
type caller struct {
	pid        int
	user       uint32
	executable string
	file       fs.FileInfo // of the executable, when the connection was taken
	start      uint64      // when the process began, likewise; 0 if that could not be read
}

// changed reports whether the process runs another executable than when its connection was taken, or its number has
// passed to another process.
func (p caller) changed() bool {
	if p.file == nil {
		return false
	}
	if start, err := startOf(p.pid); p.start != 0 && (err != nil || start != p.start) {
		return true
	}
	now, err := os.Stat(exePath(p.pid))
	return err != nil || !os.SameFile(p.file, now)
}

func exePath(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/exe" }

// attrs are what each line about the process has.
func (p caller) attrs() []any {
	return []any{slog.Int(pidKey, p.pid), slog.String("executable", p.executable), slog.Uint64("user", uint64(p.user))}
}

// name is what errors call the process.
func (p caller) name() string { return "process " + strconv.Itoa(p.pid) }
