//go:build !macrules

package server

import (
	"runtime/debug"
	"sync/atomic"
)

// strays are pages of clients' files that count for the control group of the broker, which was first to touch them, and
// that it has not mapped any more. They stay as long as a process has the file, so without a bound a client could have
// the broker fill its group with one file after another.
type strays struct {
	group  controlGroup
	limit  int64  // bytes that the group may have
	status string // of this process

	charged, last atomic.Int64
	freed         atomic.Int64 // last, when the heap gave back memory
}

// groupStrays looks at the group of this process: nil if its limit is not below the memory of the machine.
func groupStrays() *strays {
	group, limit := ownGroups().memory()
	if limit >= machineMemory() {
		return nil
	}
	return &strays{group: group, limit: limit, status: "/proc/self/status"}
}

// count is how many bytes they are at least, where clients are charged with held bytes. It looks again when what was
// charged since it did comes to looksForStrays. Pages that are mapped twice count twice in the status. Garbage of the
// heap gives way to strays: the runtime keeps freed memory, and does not know of them.
func (s *strays) count(held, charge int64) int64 {
	if s.charged.Add(charge) < looksForStrays {
		return s.last.Load()
	}
	s.charged.Store(0)
	mapped := readField(s.status, "RssShmem:") << 10
	left := max(s.group.shared()-min(mapped, held), 0)
	s.last.Store(left)
	if freed := s.freed.Load(); left < freed || left > freed+s.limit/32 {
		s.freed.Store(left)
		if left > freed {
			debug.FreeOSMemory()
		}
	}
	return left
}
