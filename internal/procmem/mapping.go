package procmem

import "strings"

// Mapping is a row of proc_pid_smaps(5).
type Mapping struct {
	Start, End    uint64 // addresses; End is the first one after it
	Offset        uint64 // of Start in the file, in bytes
	Device, Inode uint64 // of the file as stat(2) has them, 0 without a file
	Shared        bool   // writes reach the file (MAP_SHARED)
	Path          string
	Amounts
}

// Amounts are bytes of memory.
type Amounts struct {
	Resident     int64 // pages that are present
	Proportional int64 // each page divided by the number of its mappings
	PrivateClean int64 // pages that are mapped once and equal the file
	PrivateDirty int64 // other pages that are mapped once
}

// Add adds b to a.
func (a *Amounts) Add(b Amounts) {
	a.Resident += b.Resident
	a.Proportional += b.Proportional
	a.PrivateClean += b.PrivateClean
	a.PrivateDirty += b.PrivateDirty
}

// OnDisk reports whether m maps a file on disk, such as the program's code, and not memory.
func (m *Mapping) OnDisk() bool {
	if !strings.HasPrefix(m.Path, "/") {
		return false
	}
	for _, memory := range []string{"/memfd:", "/dev/shm/", "/SYSV", "/dev/zero"} {
		if strings.HasPrefix(m.Path, memory) {
			return false
		}
	}
	return true
}
