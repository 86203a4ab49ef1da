package trial

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// unshared returns the memory of a client and of the engine's process that a copy of the
// client's tensors would add to, in bytes. Of the client that is all its memory. Of the
// engine's process it is what no other process has mapped: surfaces of other clients do
// not count, a copy that the engine keeps for itself does.
func unshared(client, engine int) (int64, error) {
	own, err := mapped(client, func(m mapping) int64 {
		if m.file {
			return 0
		}
		return m.resident
	})
	if err != nil {
		return 0, err
	}
	theirs, err := mapped(engine, func(m mapping) int64 {
		if m.file {
			return 0
		}
		return m.private
	})
	return own + theirs, err
}

// mapping is a row of proc_pid_smaps(5), in bytes.
type mapping struct {
	file     bool  // a file on disk, such as the program's code
	resident int64 // pages that exist
	private  int64 // of them those that no other process has mapped
}

// mapped sums what count makes of the mappings of a process.
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
			_, _ = fmt.Sscan(words[1], &kib) // VmFlags has no number
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

// inMemory tells shared memory from files on disk.
func inMemory(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/shm/") ||
		strings.HasPrefix(path, "/SYSV") ||
		strings.HasPrefix(path, "/dev/zero")
}
