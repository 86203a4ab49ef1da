package hal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// Buffer is memory of a Device. NewBuffer, Import and Queue.Alloca make one; its caller closes it, or passes it to
// Queue.Dealloca. The zero value is closed.
type Buffer struct {
	device *Device
	size   int
	region region
	sealed bool // for reading only

	// The mutex of the Device guards the fields below.
	state   state
	block   *unimem.Block
	foreign bool // the caller's Block
	pending int  // submissions that name the Buffer
	users   int  // batches that run on its memory
	closed  bool // by Close
	bound   map[*binding]struct{}
}

// state is the state of a Buffer's memory.
type state uint8

const (
	absent  state = iota // until its Alloca is done
	present              // there
	gone                 // after Dealloca, Close, or a failed Alloca
)

// region identifies memory, so that Ranges of different Buffers can be compared: the key of a Block, or for memory that
// is not present yet the Buffer.
type region struct {
	key unimem.Key
	own *Buffer
}

// Range is Length bytes of a Buffer from Offset on. Making one checks nothing; commands do.
type Range struct {
	Buffer         *Buffer
	Offset, Length int
}

// NewBuffer makes a Buffer of size zero bytes on a unimem.Block of its own. Errors are ErrClosed and those of
// unimem.Open.
func (d *Device) NewBuffer(size int) (*Buffer, error) {
	if err := d.begin("buffer"); err != nil {
		return nil, err
	}
	defer d.active.Leave()
	block, err := d.allocate(size)
	if err != nil {
		return nil, err
	}
	return d.adopt(&Buffer{size: size, block: block}), nil
}

// allocate opens the Block for a Buffer of size bytes: at least ane.Info.MinSurface.
func (d *Device) allocate(size int) (*unimem.Block, error) {
	if size > 0 {
		size = max(size, d.info.MinSurface)
	}
	return unimem.Open(size)
}

// Import makes a Buffer of all bytes of b, in place. The Buffer retains b until Close. That of a Block for reading only,
// such as one of unimem.MapFile, is for reading only: commands that write to it are refused with ane.ErrReadOnly. The
// error is unimem.ErrClosed for a closed or nil Block.
func (d *Device) Import(b *unimem.Block) (*Buffer, error) {
	if err := d.begin("import"); err != nil {
		return nil, err
	}
	defer d.active.Leave()
	if b == nil || b.ID() == 0 {
		return nil, newError("import", unimem.ErrClosed, "nil or zero Block", "open it first")
	}
	if err := b.Retain(); err != nil {
		return nil, err
	}
	return d.adopt(&Buffer{size: b.Size(), block: b, foreign: true, sealed: b.ReadOnly()}), nil
}

// adopt adds a Buffer whose memory is present.
func (d *Device) adopt(b *Buffer) *Buffer {
	b.device, b.state, b.region = d, present, region{key: b.block.Key()}
	d.mu.Lock()
	d.buffers[b] = struct{}{}
	d.mu.Unlock()
	d.trace.memory(b.size)
	return b
}

// valid reports whether a Device made b.
func (b *Buffer) valid() bool { return b != nil && b.device != nil }

// Bytes returns the memory, Size long and in place. It is nil before the Alloca of the Buffer is done, after its
// Dealloca, and after Close. The caller has to synchronize with submissions.
func (b *Buffer) Bytes() []byte {
	if !b.valid() {
		return nil
	}
	b.device.mu.Lock()
	defer b.device.mu.Unlock()
	return b.bytes()
}

// bytes is Bytes for a caller that holds the Device's mutex.
func (b *Buffer) bytes() []byte {
	if b.state != present {
		return nil
	}
	return b.block.Bytes()[:b.size:b.size]
}

// Size is the size in bytes, as asked for. That of an imported Block is the Block's.
func (b *Buffer) Size() int {
	if b == nil {
		return 0
	}
	return b.size
}

// Range returns length bytes from offset on.
func (b *Buffer) Range(offset, length int) Range { return Range{b, offset, length} }

// Close frees the memory, or releases an imported Block. The error is ErrInUse while a submission that names the Buffer
// is pending. Repeating it returns nil.
func (b *Buffer) Close() error {
	if !b.valid() {
		return nil
	}
	d := b.device
	d.mu.Lock()
	switch {
	case b.closed:
		d.mu.Unlock()
		return nil
	case b.pending > 0:
		d.mu.Unlock()
		return inUse("Buffer")
	}
	b.closed = true
	delete(d.buffers, b)
	free := b.vanish()
	d.mu.Unlock()
	return free()
}

// vanish marks the memory as gone and returns what frees it. While a batch runs on it, the last one frees it. The
// caller holds the Device's mutex, and calls the result without it.
func (b *Buffer) vanish() (free func() error) {
	was := b.state
	b.state = gone
	if was != present || b.users > 0 {
		return func() error { return nil }
	}
	return b.take()
}

// take takes the memory from the Buffer, for the one caller that frees it.
func (b *Buffer) take() (free func() error) {
	block, bound := b.block, b.bound
	b.block, b.bound = nil, nil
	return func() error {
		var errs []error
		for k := range bound {
			errs = append(errs, k.clear())
		}
		b.device.trace.memory(-b.size)
		if b.foreign {
			block.Release()
			return errors.Join(errs...)
		}
		return errors.Join(append(errs, b.device.park(block))...)
	}
}

// pin keeps the memory of Buffers until unpin, if all of it is there.
func (d *Device) pin(buffers []*Buffer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.ContainsFunc(buffers, func(b *Buffer) bool { return b.state != present }) {
		return false
	}
	for _, b := range buffers {
		b.users++
	}
	return true
}

// unpin frees memory that a Dealloca or Close left to its last user.
func (d *Device) unpin(buffers []*Buffer) error {
	var free []func() error
	d.mu.Lock()
	for _, b := range buffers {
		b.users--
		if b.users == 0 && b.state == gone && b.block != nil {
			free = append(free, b.take())
		}
	}
	d.mu.Unlock()
	var errs []error
	for _, f := range free {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// allocate opens the memory of an Alloca.
func (b *Buffer) allocate() error {
	d := b.device
	block, err := d.allocate(b.size)
	if err != nil {
		return err
	}
	d.mu.Lock()
	b.block, b.state = block, present
	d.mu.Unlock()
	d.trace.memory(b.size)
	return nil
}

// deallocate frees the memory of a Dealloca.
func (b *Buffer) deallocate() error {
	d := b.device
	d.mu.Lock()
	if b.state != present {
		d.mu.Unlock()
		return closed("dealloca", "the memory of the Buffer is not there", "wait for its Alloca, and free it once")
	}
	free := b.vanish()
	delete(d.buffers, b)
	d.mu.Unlock()
	return free()
}

// check returns the reason why r cannot be used on d.
func (r Range) check(d *Device) error {
	b := r.Buffer
	switch {
	case !b.valid():
		return newError("range", ErrOutOfRange, "nil or zero Buffer", "take it from a Buffer")
	case b.device != d:
		return foreign("Buffer")
	case r.Offset < 0 || r.Length < 0 || r.Length > b.size-r.Offset:
		return newError("range", ErrOutOfRange,
			fmt.Sprintf("%d bytes from byte %d on of a Buffer of %d", r.Length, r.Offset, b.size),
			"stay inside the Buffer")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.closed || b.state == gone {
		return closed("range", "Buffer", "record before it is closed")
	}
	return nil
}

// checkTarget is check for a Range that a command writes.
func (r Range) checkTarget(d *Device) error {
	err := r.check(d)
	if err == nil && r.Buffer.sealed {
		err = newError("range", ane.ErrReadOnly, "the Buffer is of a Block for reading only",
			"write to a Buffer of NewBuffer")
	}
	return err
}

// shares reports whether two checked Ranges have a byte in common.
func (r Range) shares(o Range) bool {
	return r.Buffer.region == o.Buffer.region && r.Offset < o.Offset+o.Length && o.Offset < r.Offset+r.Length &&
		r.Length > 0 && o.Length > 0
}
