package unimem

import "os"

const kindForeign = "foreign"

// AdoptMemory makes a Block of memory of this process that another library owns: exactly the bytes
// of mem, without a copy. Close of the Block calls free once, after the functions of AtClose; the
// Block keeps mem and free until then. A nil free does nothing. If AdoptMemory fails, it does not
// call free. The Block begins where mem begins, at no page. Memory that the owner maps for reading
// only needs the option ReadOnly.
//
// Backing is "foreign", Handle is 0, Share is refused, and Map has the same address, as for heap
// memory. The Block counts in Stats.Blocks, but not in Stats.Bytes. A panic of free reaches the
// caller of Close, after which the Block is closed.
//
// Errors: ErrZeroSize, ErrPin (with RequirePinned: the owner can do that), ErrOption (OnHeap,
// SurfacePerCell, StaleOnClose).
func AdoptMemory(mem []byte, free func() error, opts ...Option) (*Block, error) {
	var c config
	if len(opts) > 0 {
		c = configure(opts)
	}
	readOnly := c.ReadOnly
	c.Adopted, c.ReadOnly = true, false
	if err := refuseAdopt(c, len(mem)); err != nil {
		return nil, err
	}
	if c.Foreign {
		return nil, &Error{Op: "adopt", Size: len(mem), Err: ErrOption,
			Hint: "a library of surfaces does not apply to memory of another library"}
	}
	if c.Pin {
		return nil, (&foreign{mem: mem}).unpinned()
	}
	c.ReadOnly = readOnly
	f := &foreign{mem: mem[:len(mem):len(mem)], free: free, number: process.nextID()}
	return newBlock(f, c, new(life), false)
}

// foreign is memory of another owner in this process.
type foreign struct {
	mem    []byte
	free   func() error
	number uint32
}

func (f *foreign) bytes() []byte   { return f.mem }
func (f *foreign) handle() uintptr { return 0 }
func (f *foreign) id() uint32      { return f.number }
func (f *foreign) key(bool) Key    { return Key{kindForeign, process.token(), uint64(f.number)} }
func (f *foreign) kind() string    { return kindForeign }

// warm only reads, because another owner may be writing.
func (f *foreign) warm() error { look(f.mem); return nil }

// remap returns the same bytes: the memory has no handle to map it by.
func (f *foreign) remap() ([]byte, func() error, error) {
	return f.mem, func() error { return nil }, nil
}

func (f *foreign) unpinned() error {
	return &Error{Op: opPin, Size: len(f.mem), Err: ErrPin, Hint: "only the owner of the memory can pin it"}
}

func (f *foreign) share() (*os.File, error) {
	return nil, &Error{Op: "share", Size: len(f.mem), Err: ErrShare,
		Hint: "memory of another library has no descriptor: copy it into a Block of Open"}
}

func (f *foreign) close(bool) error {
	if f.free == nil {
		return nil
	}
	return f.free()
}
