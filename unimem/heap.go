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
	return fail(opPin, len(h.mem), ErrPin, "heap memory cannot be pinned: open without OnHeap")
}

func (h *heap) share() (*os.File, error) {
	return nil, fail("share", len(h.mem), ErrShare,
		"memory of the Go heap cannot be shared: open the Block without OnHeap, on Linux or macOS")
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

const kindForeign = "foreign"

// AdoptMemory makes a Block of memory of this process that another library owns: exactly the bytes of mem, without a
// copy. Close of the Block calls free once, after the functions of AtClose; the Block keeps mem and free until then. A
// nil free does nothing. If AdoptMemory fails, it does not call free. The Block begins where mem begins, which need not
// be a page. Memory that the owner maps for reading only needs the option ReadOnly.
//
// Backing is "foreign", Handle is 0, Share is refused, and Map has the same address, as for heap memory. The Block
// counts in Stats.Blocks, but not in Stats.Bytes. A panic of free reaches the caller of Close, after which the Block is
// closed.
//
// Errors: ErrZeroSize, ErrPin (with RequirePinned, which only the owner could do), ErrOption (OnHeap, SurfacePerCell,
// StaleOnClose, a library of surfaces).
func AdoptMemory(mem []byte, free func() error, opts ...Option) (*Block, error) {
	c, err := adoptOptions("adopt", kindForeign, len(mem), opts)
	if err != nil {
		return nil, err
	}
	if c.Pin {
		return nil, (&foreign{heap: heap{mem: mem}}).unpinned()
	}
	f := &foreign{heap{mem: mem[:len(mem):len(mem)], number: process.nextID()}, free}
	return newBlock(f, c, new(life), false)
}

// foreign is memory of another owner in this process.
type foreign struct {
	heap
	free func() error
}

func (f *foreign) key(bool) Key { return Key{kindForeign, process.token(), uint64(f.number)} }
func (f *foreign) kind() string { return kindForeign }

// warm only reads, because another owner may be writing.
func (f *foreign) warm() error { look(f.mem); return nil }

func (f *foreign) unpinned() error {
	return fail(opPin, len(f.mem), ErrPin, "only the owner of the memory can pin it")
}

func (f *foreign) share() (*os.File, error) {
	return nil, fail("share", len(f.mem), ErrShare,
		"memory of another library has no descriptor: copy it into a Block of Open")
}

func (f *foreign) close(bool) error {
	if f.free == nil {
		return nil
	}
	return f.free()
}
