//go:build unix

package procmem

import (
	"time"

	"golang.org/x/sys/unix"
)

// Computed is how long processors have worked for this process; 0 if it is not known.
func Computed() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
