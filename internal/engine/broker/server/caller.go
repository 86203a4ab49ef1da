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
}

func exePath(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/exe" }

// attrs are what each line about the process has.
func (p caller) attrs() []any {
	return []any{slog.Int("pid", p.pid), slog.String("executable", p.executable), slog.Uint64("user", uint64(p.user))}
}
