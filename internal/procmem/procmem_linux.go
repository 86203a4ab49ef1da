//go:build !macrules

package procmem

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Proportional returns the memory of processes in bytes, of this one if pids is empty. Each page is divided by the
// number of its mappings (Pss of proc_pid_smaps(5)): a page that they map twice counts once. Pages of files on disk,
// such as a program's code, do not count if the kernel reports them separately (Linux 5.3). A process's share of them
// would grow when another process of the same program ends.
func Proportional(pids ...int) (int64, error) {
	if len(pids) == 0 {
		pids = []int{os.Getpid()}
	}
	var sum int64
	for _, pid := range pids {
		n, err := proportional(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func proportional(pid int) (int64, error) {
	sums, err := sizes(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	if all, ok := sums["Pss"]; ok {
		return all - sums["Pss_File"], nil
	}
	return 0, errors.New("smaps_rollup has no Pss")
}

// sizes reads the lines NAME: N kB of a file.
func sizes(path string) (map[string]int64, error) {
	text, err := os.ReadFile(path)
	found := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		var kib int64
		if n, _ := fmt.Sscanf(rest, "%d kB", &kib); n == 1 {
			found[name] = kib << 10
		}
	}
	return found, err
}

// Resident returns the memory of this process: its own pages, and those of mapped files; 0 where it is unknown.
func Resident() (own, files int64) {
	s, _ := sizes("/proc/self/status")
	return s["RssAnon"] + s["RssShmem"], s["RssFile"]
}

// Peak is the most memory of this process that was resident at once, in bytes; 0 if it is not known. It is not that of
// getrusage, which begins with the peak of the process that started this one.
func Peak() int64 {
	s, _ := sizes("/proc/self/status")
	return s["VmHWM"]
}

// Available is the memory in bytes that this process can use without being killed: the free memory of the machine,
// within the limits of its control groups. Pages of files count as free, because the kernel takes them back.
func Available() uint64 {
	free := uint64(math.MaxUint64)
	if s, err := sizes("/proc/meminfo"); err == nil {
		free = uint64(s["MemAvailable"])
	}
	for _, group := range groups() {
		for _, names := range [][2]string{{"memory.max", "memory.current"},
			{"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
			used, _ := number(filepath.Join(group, names[1]))
			if limit, limited := number(filepath.Join(group, names[0])); limited {
				used -= min(used, cached(group))
				free = min(free, limit-min(used, limit))
			}
		}
	}
	return free
}

// groups lists the folders of the control groups, version 2 or 1, that limit the memory of this process: its own, and
// those above it. Inside a container its own may be shown as the root.
func groups() (all []string) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		text = []byte("0::/\n1:memory:/")
	}
	for line := range strings.Lines(string(text)) {
		word := strings.SplitN(strings.TrimSpace(line), ":", 3) // ID:CONTROLLERS:PATH
		if len(word) < 3 {
			continue
		}
		root := "/sys/fs/cgroup"
		if word[1] != "" {
			root += "/memory"
		}
		if word[1] != "" && !slices.Contains(strings.Split(word[1], ","), "memory") {
			continue
		}
		for at := filepath.Clean("/" + word[2]); ; at = filepath.Dir(at) {
			if all = append(all, filepath.Join(root, at)); at == "/" {
				break
			}
		}
	}
	return all
}

// cached is the bytes of pages of files that count as used by a group and by those below it.
func cached(group string) uint64 {
	text, _ := os.ReadFile(filepath.Join(group, "memory.stat"))
	stat := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		stat[name], _ = strconv.ParseUint(rest, 10, 64)
	}
	if n, ok := stat["total_inactive_file"]; ok { // version 1, where the others leave out the groups below
		return n + stat["total_active_file"]
	}
	return stat["inactive_file"] + stat["active_file"]
}

// MemoryPressure returns the shortage that the kernel states for the machine, or for a control group of this process
// if it is greater there.
func MemoryPressure() Pressure {
	p := Pressure{Stalled: stalled("/proc/pressure/memory")}
	for _, group := range groups() {
		p.Stalled = max(p.Stalled, stalled(filepath.Join(group, "memory.pressure")))
	}
	return p
}

// stalled reads a file of pressure stall information, -1 where there is none.
func stalled(path string) float64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(text), "some avg10=")
	percent, err := strconv.ParseFloat(strings.SplitN(rest, " ", 2)[0], 64)
	if err != nil {
		return -1
	}
	return percent
}

// number reads a file with one number; "max" is not a number.
func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
