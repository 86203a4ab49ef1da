//go:build !macrules

package server

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// controlGroups finds the control groups of this process: the file that names them, and the folder of the hierarchies.
type controlGroups struct{ list, root string }

func ownGroups() controlGroups { return controlGroups{"/proc/self/cgroup", "/sys/fs/cgroup"} }

// controlGroup is the folder of one, of version 2 or 1.
type controlGroup struct {
	dir    string
	second bool
}

// of returns the group in which a controller has the process, and its parents.
func (g controlGroups) of(controller string) (all []controlGroup) {
	f, err := os.Open(g.list)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 0::/path for version 2, and n:controllers:/path for version 1
		part := strings.SplitN(lines.Text(), ":", 3)
		if len(part) != 3 || part[1] != "" && !strings.Contains(","+part[1]+",", ","+controller+",") {
			continue
		}
		root := g.root
		if part[1] != "" {
			root = filepath.Join(root, controller)
		}
		for path := filepath.Clean("/" + part[2]); ; path = filepath.Dir(path) {
			all = append(all, controlGroup{filepath.Join(root, path), part[1] == ""})
			if path == "/" {
				break
			}
		}
	}
	return all
}

// memory is the group with the least limit on memory, and the limit in bytes: the largest number without one. Above
// memory.high the kernel does not kill, and holds up each process of the group until it hardly runs.
func (g controlGroups) memory() (least controlGroup, limit int64) {
	limit = math.MaxInt64
	for _, one := range g.of("memory") {
		n := one.number("memory.limit_in_bytes", math.MaxInt64)
		if one.second {
			n = min(one.number("memory.max", math.MaxInt64), one.number("memory.high", math.MaxInt64))
		}
		if n < limit {
			least, limit = one, n
		}
	}
	return least, limit
}

// threads is how many threads the process may have beside what its groups have besides: the largest number without a
// limit.
func (g controlGroups) threads() int64 {
	left := int64(math.MaxInt64)
	for _, one := range g.of("pids") {
		if most := one.number("pids.max", math.MaxInt64); most < math.MaxInt64 {
			left = min(left, most-one.number("pids.current", 0))
		}
	}
	if left == math.MaxInt64 {
		return left
	}
	own, _ := os.ReadDir("/proc/self/task") // the kernel's own
	return left + int64(len(own))
}

// number reads a file of the group with one number.
func (g controlGroup) number(file string, without int64) int64 {
	return readNumber(filepath.Join(g.dir, file), without)
}

// shared is how many bytes of memory files the group has, and those in it.
func (g controlGroup) shared() int64 {
	name := "total_shmem"
	if g.second {
		name = "shmem"
	}
	return readField(filepath.Join(g.dir, "memory.stat"), name)
}

// readField reads the number after a name that begins a line of a file; 0 without one.
func readField(path, name string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64) // the kernel's own
			return n
		}
	}
	return 0
}
