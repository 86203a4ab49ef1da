package unimem

import (
	"os"
	"runtime"
)

const kindHeap = "heap"

// heap is memory of the Go heap, for race tests and for systems without shared memory.
type heap struct {
	mem    []byte
	number uint32
}

func openHeap(size int) (backing, error) {
	if size >= roomChecked { // else two could pass the check together
		process.room.Lock()
		defer process.room.Unlock()
		if err := checkRoom("open", size); err != nil {
			return nil, err
		}
	}
	return &heap{mem: alignedBytes(size), number: process.nextID()}, nil
}

func (h *heap) bytes() []byte   { return h.mem }
func (h *heap) handle() uintptr { return 0 }
func (h *heap) id() uint32      { return h.number }
func (h *heap) key(bool) Key    { return Key{kindHeap, process.token(), uint64(h.number)} }
func (h *heap) kind() string    { return kindHeap }
func (h *heap) warm() error     { touch(h.mem); return nil }

// remap returns the same bytes: heap memory cannot be mapped again.
func (h *heap) remap() ([]byte, func() error, error) {
	return h.mem, func() error { return nil }, nil
}

func (h *heap) unpinned() error {
	return &Error{Op: opPin, Size: len(h.mem), Err: ErrPin, Hint: "heap memory cannot be pinned: open without OnHeap"}
}

func (h *heap) share() (*os.File, error) {
	return nil, &Error{Op: "share", Size: len(h.mem), Err: ErrShare,
		Hint: "memory of the Go heap cannot be shared: open the Block without OnHeap, on Linux or macOS"}
}

// close leaves the memory to the collector, which frees it when the Block and all slices of
// it are unreachable.
func (h *heap) close(bool) error { return nil }

// touch writes the first byte of every page back to it. In new memory it is zero.
func touch(mem []byte) {
	for i := 0; i < len(mem); i += smallPage {
		mem[i] = 0
	}
}

// look reads one byte of every page.
func look(mem []byte) {
	var all byte
	for i := 0; i < len(mem); i += smallPage {
		all |= mem[i]
	}
	runtime.KeepAlive(all) // otherwise the compiler may remove the reads
}

// smallPage is the smallest page size in bytes of the supported machines.
const smallPage = 4 << 10
