package unimem

import "runtime"

const (
	kindHeap    = "heap"
	kindForeign = "foreign"
)

// heap is memory of this process: of the Go heap, or of another library.
type heap struct {
	base
	free func() error // nil for memory that the collector frees when the Block and all slices of it are unreachable
}

func newHeap(mem []byte, kind, pinHint, shareHint string) *heap {
	return &heap{base: base{unshared: shareHint, region: region{
		mem: mem, id: process.nextID(), kind: kind, unpinned: fail(opPin, len(mem), ErrPin, pinHint)}}}
}

// openHeap opens memory of the Go heap. why says what to do about its not being shared; it is empty for OnHeap.
func openHeap(size int, why string) (backing, error) {
	if size >= roomChecked { // else two could pass the check together
		process.room.Lock()
		defer process.room.Unlock()
		if err := checkRoom("open", size); err != nil {
			return nil, err
		}
	}
	pin, share := "heap memory cannot be pinned: ", "memory of the Go heap cannot be shared: "
	if why == "" {
		return newHeap(alignedBytes(size), kindHeap, pin+"open without OnHeap",
			share+"open the Block without OnHeap, on Linux or macOS"), nil
	}
	return newHeap(alignedBytes(size), kindHeap, pin+why, share+why), nil
}

func (h *heap) close(bool) error {
	if h.free == nil {
		return nil
	}
	return h.free()
}

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
	c, err := adoptOptions("adopt", forMemory, len(mem), opts)
	if err != nil {
		return nil, err
	}
	h := newHeap(mem[:len(mem):len(mem)], kindForeign, "only the owner of the memory can pin it",
		"memory of another library has no descriptor: copy it into a Block of Open")
	b, err := newBlock(h, c, new(life), false)
	if err == nil {
		h.free = free
	}
	return b, err
}

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
