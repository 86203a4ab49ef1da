//go:build !macrules

package trial

import (
	"fmt"
	"reflect"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/procmem"
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

func (p remote) frame(at int) (uint64, bool) { return frame(p.pid, p.address+uintptr(at)) }

func (l local) frame(at int) (uint64, bool) { return frame(0, reflect.ValueOf(l[at:]).Pointer()) }

// frame reads the number of the page frame of an address of a process, of this one if pid is 0.
func frame(pid int, address uintptr) (uint64, bool) {
	frames, shown := procmem.Frames(pid, uint64(address), 1)
	return frames[0], shown
}
