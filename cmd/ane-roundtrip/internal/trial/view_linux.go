package trial

import (
	"encoding/binary"
	"fmt"
	"os"
	"reflect"

	"golang.org/x/sys/unix"
)

// remote is memory of another process, read and written with process_vm_readv and process_vm_writev.
type remote struct {
	pid     int
	address uintptr
	n       int
}

// remoteView returns n bytes of a process; nil if the system denies access.
func remoteView(pid int, address uintptr, n int) view {
	p := remote{pid, address, n}
	if err := p.transfer(unix.ProcessVMReadv, 0, new([1]byte)); err != nil {
		return nil
	}
	return p
}

type mover func(pid int, local []unix.Iovec, remote []unix.RemoteIovec, flags uint) (int, error)

func (p remote) transfer(move mover, at int, b *[1]byte) error {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(1)
	n, err := move(p.pid, local, []unix.RemoteIovec{{Base: p.address + uintptr(at), Len: 1}}, 0)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d bytes moved", n)
	}
	return err
}

func (p remote) size() int { return p.n }

// load returns 0 if the process has ended.
func (p remote) load(at int) byte {
	var b [1]byte
	_ = p.transfer(unix.ProcessVMReadv, at, &b)
	return b[0]
}

func (p remote) store(at int, v byte) { _ = p.transfer(unix.ProcessVMWritev, at, &[1]byte{v}) }

func (p remote) frame(at int) (uint64, bool) {
	return frame(fmt.Sprintf("/proc/%d/pagemap", p.pid), p.address+uintptr(at))
}

func (l local) frame(at int) (uint64, bool) {
	return frame("/proc/self/pagemap", reflect.ValueOf(l[at:]).Pointer())
}

// frame reads the number of the page frame of an address: bits 0 to 54 of its entry, if bit 63 marks
// the page as present (Documentation/admin-guide/mm/pagemap.rst of the kernel).
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
