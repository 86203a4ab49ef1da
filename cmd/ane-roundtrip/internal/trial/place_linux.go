package trial

import (
	"encoding/binary"
	"fmt"
	"os"
	"reflect"

	"golang.org/x/sys/unix"
)

// theirs is memory of another process, reached as a debugger would.
type theirs struct {
	pid     int
	address uintptr
	n       int
}

// elsewhere is n bytes of a process, nil when the system refuses access.
func elsewhere(pid int, address uintptr, n int) place {
	p := theirs{pid, address, n}
	if err := p.transfer(unix.ProcessVMReadv, 0, new([1]byte)); err != nil {
		return nil
	}
	return p
}

type mover func(pid int, local []unix.Iovec, remote []unix.RemoteIovec, flags uint) (int, error)

func (p theirs) transfer(move mover, at int, b *[1]byte) error {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(1)
	n, err := move(p.pid, local, []unix.RemoteIovec{{Base: p.address + uintptr(at), Len: 1}}, 0)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d bytes moved", n)
	}
	return err
}

func (p theirs) size() int { return p.n }

// load returns a byte that is no answer to anything when the process has gone.
func (p theirs) load(at int) byte {
	var b [1]byte
	_ = p.transfer(unix.ProcessVMReadv, at, &b)
	return b[0]
}

func (p theirs) store(at int, v byte) { _ = p.transfer(unix.ProcessVMWritev, at, &[1]byte{v}) }

func (p theirs) frame(at int) (uint64, bool) {
	return frame(fmt.Sprintf("/proc/%d/pagemap", p.pid), p.address+uintptr(at))
}

func (o own) frame(at int) (uint64, bool) {
	return frame("/proc/self/pagemap", reflect.ValueOf(o[at:]).Pointer())
}

// frame reads the number of the page frame behind an address: bits 0 to 54 of the
// entry, of which bit 63 says that the page is present
// (Documentation/admin-guide/mm/pagemap.rst of the kernel).
func frame(pagemap string, address uintptr) (uint64, bool) {
	f, err := os.Open(pagemap)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var entry [8]byte
	if _, err := f.ReadAt(entry[:], int64(address)/int64(os.Getpagesize())*8); err != nil {
		return 0, false
	}
	e := binary.NativeEndian.Uint64(entry[:])
	pfn := e & (1<<55 - 1)
	return pfn, e>>63 == 1 && pfn != 0
}
