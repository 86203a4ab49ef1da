//go:build !macrules

package unimem

import (
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// arena is the unit in bytes in which the Go runtime takes addresses from the system.
const arena = 64 << 20

// systemRooms returns the rooms of the limits of the system for a heap that grows by size bytes, and of which held
// bytes are used.
func systemRooms(size int, held uint64) []room {
	return append(groups{"/proc/self/cgroup", "/sys/fs/cgroup", held}.rooms(), addressRoom(size))
}

// addressRoom asks the kernel for as many addresses as the runtime would: the answer covers the
// limits on address space and data, and strict accounting of memory.
func addressRoom(size int) room {
	need := (size+PageSize+arena-1)/arena*arena + arena // the runtime's own tables too
	err := tryMap(need)
	if err == nil {
		return room{free: math.MaxUint64}
	}
	return room{limit: fmt.Sprintf("a limit on addresses or data (mmap of %d bytes: %v)", need, err),
		hint: "raise the limit (ulimit -v, ulimit -d)"}
}

// groups finds the control groups of this process: the file that names them, and the folder of
// the hierarchies. Each has at least held bytes in use: the kernel counts memory when it is touched first.
type groups struct {
	list, root string
	held       uint64
}

// rooms returns the room of every control group of this process that limits memory. Inside a
// container the named groups may be absent, and the root of the hierarchy is the container.
func (g groups) rooms() []room {
	text, err := os.ReadFile(g.list)
	if err != nil {
		return nil
	}
	var rooms []room
	for line := range strings.Lines(string(text)) {
		// number:controllers:path; version 2 has number 0 and no controllers
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			switch {
			case fields[1] == "":
				rooms = append(rooms, g.second(at)...)
			case strings.Contains(","+fields[1]+",", ",memory,"):
				rooms = append(rooms, g.first(at)...)
			}
			if at == "/" {
				break
			}
		}
	}
	return rooms
}

// second reads a group of version 2.
func (g groups) second(at string) []room {
	dir := path.Join(g.root, at)
	limit, limited := readNumber(path.Join(dir, "memory.max"))
	used, known := readNumber(path.Join(dir, "memory.current"))
	if !limited || !known {
		return nil
	}
	used -= min(fileCache(dir, "inactive_file ", "active_file "), used)
	swap := freeSwap()
	if most, ok := readNumber(path.Join(dir, "memory.swap.max")); ok {
		now, _ := readNumber(path.Join(dir, "memory.swap.current"))
		swap = min(swap, most-min(now, most))
	}
	return []room{groupRoom(at, limit-min(max(used, g.held), limit)+swap)}
}

// first reads a group of version 1.
func (g groups) first(at string) []room {
	dir := path.Join(g.root, "memory", at)
	limit, limited := readNumber(path.Join(dir, "memory.limit_in_bytes"))
	used, known := readNumber(path.Join(dir, "memory.usage_in_bytes"))
	if !limited || !known || limit > math.MaxInt64/2 { // no limit is a number close to the largest
		return nil
	}
	cache := fileCache(dir, "total_inactive_file ", "total_active_file ")
	free := limit - min(max(used-min(cache, used), g.held), limit) + freeSwap()
	if both, ok := readNumber(path.Join(dir, "memory.memsw.limit_in_bytes")); ok {
		now, _ := readNumber(path.Join(dir, "memory.memsw.usage_in_bytes"))
		free = min(free, both-min(max(now-min(cache, now), g.held), both))
	}
	return []room{groupRoom(at, free)}
}

func groupRoom(at string, free uint64) room {
	return room{limit: "the memory limit of control group " + at, free: free,
		hint: "raise the memory limit of the container"}
}

// fileCache is the number of bytes of cached files, which the kernel frees on demand.
func fileCache(dir string, names ...string) (sum uint64) {
	text, err := os.ReadFile(path.Join(dir, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		for _, name := range names {
			if value, ok := strings.CutPrefix(line, name); ok {
				n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
				sum += n
			}
		}
	}
	return sum
}

func freeSwap() uint64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return uint64(s.Freeswap) * uint64(s.Unit)
}

// readNumber reads a file with one number; "max" is none.
func readNumber(name string) (uint64, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
