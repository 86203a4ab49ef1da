package trial

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// unshared returns the memory of a client and of the engine's process that a copy of the client's
// tensors would increase, in bytes: all memory of the client, and the pages of the engine's process
// that no other process has mapped. So it counts copies that the engine makes, but not the surfaces
// of other clients.
func unshared(client, engine int) (int64, error) {
	ofClient, err := mapped(client, func(m mapping) int64 {
		if m.file {
			return 0
		}
		return m.resident
	})
	if err != nil {
		return 0, err
	}
	ofEngine, err := mapped(engine, func(m mapping) int64 {
		if m.file {
			return 0
		}
		return m.private
	})
	return ofClient + ofEngine, err
}

// mapping is a row of proc_pid_smaps(5), in bytes.
type mapping struct {
	file     bool  // a file on disk, such as the program's code
	resident int64 // pages that exist
	private  int64 // resident pages that no other process has mapped
}

// mapped sums count over the mappings of a process.
func mapped(pid int, count func(mapping) int64) (sum int64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var m mapping
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if !strings.HasSuffix(words[0], ":") { // ADDRESSES PERMISSIONS OFFSET DEVICE INODE [PATH]
			sum += count(m)
			m = mapping{file: len(words) > 5 && strings.HasPrefix(words[5], "/") && !inMemory(words[5])}
			continue
		}
		var kib int64
		if len(words) > 1 {
			_, _ = fmt.Sscan(words[1], &kib) // fails for VmFlags, which has no number
		}
		switch words[0] {
		case "Rss:":
			m.resident = kib << 10
		case "Private_Clean:", "Private_Dirty:":
			m.private += kib << 10
		}
	}
	return sum + count(m), lines.Err()
}

// inMemory reports whether the path of a mapping is shared memory, not a file on disk.
func inMemory(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/shm/") ||
		strings.HasPrefix(path, "/SYSV") ||
		strings.HasPrefix(path, "/dev/zero")
}
