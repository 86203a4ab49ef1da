//go:build !macrules

package procmem

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Mappings calls each with the mappings of a process in the order of their addresses, of this process if pid is 0.
// The Mapping is valid until each returns. The kernel counts the pages of every mapping for it.
func Mappings(pid int, each func(*Mapping)) error { return rows(pid, "smaps", each) }

// Ranges is Mappings without Amounts, for which the kernel counts nothing.
func Ranges(pid int, each func(*Mapping)) error { return rows(pid, "maps", each) }

func rows(pid int, file string, each func(*Mapping)) error {
	f, err := os.Open(procFile(pid, file))
	if err != nil {
		return err
	}
	defer f.Close()
	var m Mapping
	var found bool
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		if n := len(name); n > 0 && name[n-1] == ':' {
			m.count(name, rest)
			continue
		}
		if found {
			each(&m)
		}
		if m, err = parseMapping(lines.Text()); err != nil {
			return err
		}
		found = true
	}
	if found {
		each(&m)
	}
	return lines.Err()
}

// parseMapping reads ADDRESS-ADDRESS PERMISSIONS OFFSET MAJOR:MINOR INODE [PATH].
func parseMapping(line string) (m Mapping, err error) {
	var permissions string
	var major, minor uint32
	n, err := fmt.Sscanf(line, "%x-%x %s %x %x:%x %d", &m.Start, &m.End, &permissions, &m.Offset, &major, &minor,
		&m.Inode)
	if err != nil || n != 7 || len(permissions) != 4 {
		return m, fmt.Errorf("proc_pid_maps has the line %q", line)
	}
	m.Shared = permissions[3] == 's'
	m.Device = unix.Mkdev(major, minor)
	for range 5 { // the path, which may hold spaces, follows five words
		_, line, _ = cutWord(line)
	}
	m.Path = line
	return m, nil
}

// cutWord splits a line after its first word and the spaces that follow it.
func cutWord(line string) (word, rest string, ok bool) {
	b := []byte(line)
	i := bytes.IndexByte(b, ' ')
	if i < 0 {
		return line, "", false
	}
	return line[:i], string(bytes.TrimLeft(b[i:], " ")), true
}

// count adds a line of amounts: NAME: N kB.
func (m *Mapping) count(name, rest []byte) {
	var to *int64
	switch string(name) {
	case "Rss:":
		to = &m.Resident
	case "Pss:":
		to = &m.Proportional
	case "Private_Clean:":
		to = &m.PrivateClean
	case "Private_Dirty:":
		to = &m.PrivateDirty
	default:
		return
	}
	kib, err := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
	if err == nil {
		*to = kib << 10
	}
}

// Frames reads the numbers of the page frames of n pages from an address on, of this process if pid is 0: 0 for a page
// that is not present. The kernel shows them to a process with CAP_SYS_ADMIN; for others shown is false.
func Frames(pid int, address uint64, n int) (frames []uint64, shown bool) {
	frames = make([]uint64, n)
	f, err := os.Open(procFile(pid, "pagemap"))
	if err != nil {
		return frames, false
	}
	defer f.Close()
	entries := make([]byte, 8*n)
	if _, err := f.ReadAt(entries, int64(address/uint64(os.Getpagesize())*8)); err != nil {
		return frames, false
	}
	// Documentation/admin-guide/mm/pagemap.rst of the kernel: bit 63 marks a page as present, bits 0 to 54 are the
	// number of its frame.
	const present, number = 1 << 63, 1<<55 - 1
	for i := range frames {
		e := binary.NativeEndian.Uint64(entries[8*i:])
		if e&present == 0 {
			continue
		}
		if e&number == 0 {
			return make([]uint64, n), false
		}
		frames[i], shown = e&number, true
	}
	return frames, shown
}

// Open opens the memory of a process, whose addresses are offsets of the file (proc_pid_mem(5)). The kernel allows it for
// processes that this one may trace.
func Open(pid int) (*os.File, error) { return os.OpenFile(procFile(pid, "mem"), os.O_RDWR, 0) }

func procFile(pid int, name string) string {
	who := "self"
	if pid != 0 {
		who = strconv.Itoa(pid)
	}
	return "/proc/" + who + "/" + name
}
