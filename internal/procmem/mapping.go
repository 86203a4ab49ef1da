package procmem

import "strings"

// Mapping is a row of proc_pid_maps(5), and of proc_pid_smaps(5).
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

// At returns the mapping that an address of a process lies in, the zero Mapping if none does. pid 0 is this process.
func At(pid int, address uint64) (found Mapping, err error) {
	err = Ranges(pid, func(m *Mapping) {
		if m.Start <= address && address < m.End {
			found = *m
		}
	})
	return found, err
}

// Elsewhere returns where another process has mapped the byte that this one has at an address, so that writes of either
// reach the other; 0 if it has not.
func Elsewhere(pid int, address uint64) (found uint64, err error) {
	own, err := At(0, address)
	if err != nil || own.Inode == 0 || !own.Shared {
		return 0, err
	}
	offset := own.OffsetOf(address)
	err = Ranges(pid, func(m *Mapping) {
		if m.Shared && m.Device == own.Device && m.Inode == own.Inode &&
			m.Offset <= offset && offset-m.Offset < m.End-m.Start {
			found = m.Start + offset - m.Offset
		}
	})
	return found, err
}

// OffsetOf is the offset in the file of an address in m.
func (m *Mapping) OffsetOf(address uint64) uint64 { return m.Offset + address - m.Start }

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
