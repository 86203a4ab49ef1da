//go:build unix && (!linux || macrules)

package procmem

import (
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/host"
)

// Peak is the most memory of this process that was resident at once, in bytes; 0 if it is not known.
func Peak() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if host.Name == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
