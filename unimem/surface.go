package unimem

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/anekit/anekit/internal/iosurface"
)

const kindSurface = "IOSurface"

// surface adapts an IOSurface to a Block. It works with any table of functions, on any
// system.
type surface struct {
	table *iosurface.Table
	*iosurface.Surface
}

// errField is the cause of a refused size.
var errField = errors.New("the size of an IOSurface is a field of 32 bits")

func openSurface(t *iosurface.Table, size int) (backing, error) {
	if uint64(size) > iosurface.MaxSize {
		return nil, &Error{Op: "open", Size: size, Err: ErrCreate, Cause: fmt.Errorf("%w: %w", ErrSize, errField),
			Hint: fmt.Sprintf("at most %d bytes; use several Blocks", iosurface.MaxSize&^uint64(PageSize-1))}
	}
	s, err := iosurface.Open(t, size)
	if err != nil {
		return nil, systemError("open", size, err)
	}
	return &surface{t, s}, nil
}

// systemError wraps an error of a library of surfaces: ErrLock for a surface that could not
// be locked, ErrCreate for everything else. Lack of memory also matches ErrExhausted.
func systemError(op string, size int, err error) *Error {
	e := &Error{Op: op, Size: size, Err: ErrCreate, Cause: err}
	var step *iosurface.Error
	if !errors.As(err, &step) {
		return e
	}
	if step.Locking() {
		e.Err = ErrLock
	}
	// Map looks up an existing surface, so a missing one means lack of memory.
	if step.Exhausted() || op == opMap && step.Missing() {
		e.Cause, e.Hint = exhausted(err), surfacesHint
	}
	return e
}

// surfacesHint is the hint of ErrExhausted.
const surfacesHint = "close idle surfaces, open fewer, or retry later: other processes use surfaces too"

func (s *surface) bytes() []byte   { return bytesAt(s.Base, s.Size) }
func (s *surface) handle() uintptr { return uintptr(s.Ref) }
func (s *surface) id() uint32      { return s.ID }
func (s *surface) key(bool) Key    { return Key{Kind: kindSurface, Number: uint64(s.ID)} }
func (s *surface) kind() string    { return kindSurface }
func (s *surface) warm() error     { touch(s.bytes()); return nil }

// unpinned is unknown: IOSurfaceLock bounds accesses of the CPU, and does not promise wired pages.
func (s *surface) unpinned() error {
	return &Error{Op: opPin, Size: s.Size, Err: ErrPin, Cause: ErrPinUnknown,
		Hint: "locking an IOSurface does not promise it: open without RequirePinned"}
}

// Uses returns how often this process has marked the Block's surface as in use. inUse tells whether any process has,
// such as the driver of a device that works on it. known is false for other memory, after Close, and for a library that
// does not tell.
func (b *Block) Uses() (count int, inUse, known bool) {
	if b.Retain() != nil {
		return 0, false, false
	}
	defer b.Release()
	if s, ok := b.back.(*surface); ok {
		return s.Surface.Uses()
	}
	return 0, false, false
}

// remap looks the surface up by its id. The result is another reference to the surface, at the
// same address: a surface has one address in a process.
func (s *surface) remap() ([]byte, func() error, error) {
	twin, err := iosurface.Lookup(s.table, s.ID, s.Size)
	if err != nil {
		return nil, nil, systemError(opMap, s.Size, err)
	}
	return bytesAt(twin.Base, twin.Size), twin.Close, nil
}

func (s *surface) share() (*os.File, error) {
	return nil, fail("share", s.Size, ErrShare, "an IOSurface is shared as a mach port: use SharePort")
}

func (s *surface) close(bool) error { return s.Surface.Close() }

// AdoptSurface makes a Block of the first size bytes of an existing surface. It finds the surface by its IOSurfaceID,
// in this process or, if the system permits it, in another. So the frames of a video decoder become Blocks without a
// copy.
//
// The Block owns one reference and one lock from AdoptSurface until Close, independently of the surface's creator:
// Close unlocks and releases it, and the surface lives until its last owner releases it. Size is exactly size. The
// pages keep their content, and Warm reads them without writing. The caller synchronizes its accesses with the creator;
// a creator that waits until the surface is unlocked waits for Close. AdoptSurface does not change the use count of
// IOSurfaceIncrementUseCount, so a pool of frames may reuse the surface: keep the creator's object (the CVPixelBuffer)
// until Close as well.
//
// Errors: ErrZeroSize, ErrSize (negative, or with ErrCreate: the surface has fewer bytes), ErrCreate (no surface has
// this id), ErrLock, ErrExhausted (with ErrLock), ErrPin (with RequirePinned), ErrOption (SurfacePerCell, OnHeap),
// ErrShare (a system without surfaces).
//
// It is tested against a stand-in on Linux, not with surfaces of macOS frameworks.
func AdoptSurface(id uint32, size int, opts ...Option) (*Block, error) {
	return adoptFound(size, opts, func(t *iosurface.Table) (*iosurface.Surface, error) {
		return iosurface.Lookup(t, id, size)
	})
}

// adoptFound makes a Block of the surface that find returns for the library that opts name.
func adoptFound(size int, opts []Option, find func(*iosurface.Table) (*iosurface.Surface, error)) (*Block, error) {
	c, err := adoptOptions("adopt", kindSurface, size, opts)
	if err != nil {
		return nil, err
	}
	t, err := surfaceTable("adopt", size, c)
	if err != nil {
		return nil, err
	}
	return recovering(func() (*Block, error) {
		s, err := find(t)
		if err != nil {
			return nil, adoptError(size, err)
		}
		return newBlock(&adopted{surface{t, s}}, c, new(life), false)
	})
}

// adoptOptions returns the options for existing memory, and reports sizes and options that do not apply to its kind.
func adoptOptions(op, kind string, size int, opts []Option) (config, error) {
	c := configure(opts)
	c.Adopted = true
	switch {
	case size == 0:
		return c, fail(op, 0, ErrZeroSize, "ask for at least one byte")
	case size < 0:
		return c, fail(op, size, ErrSize, "a size is a positive number of bytes")
	case c.Heap:
		return c, fail(op, size, ErrOption, "OnHeap does not apply to existing memory")
	case c.Foreign && kind != kindSurface:
		return c, fail(op, size, ErrOption, "a library of surfaces applies to surfaces alone")
	}
	asked := c
	if kind == kindForeign {
		asked.ReadOnly = false
	}
	return c, refuse(asked, op, size)
}

// adoptError adds ErrSize and a hint to the error for a surface that is too small.
func adoptError(size int, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var step *iosurface.Error
	if !errors.As(err, &step) || !step.Short() {
		return systemError("adopt", size, err)
	}
	return &Error{Op: "adopt", Size: size, Err: ErrCreate, Cause: fmt.Errorf("%w: %w", ErrSize, err),
		Hint: "adopt no more bytes than the surface has"}
}

// adopted is a surface made by another owner.
type adopted struct{ surface }

// warm only reads, because another owner may be writing.
func (a *adopted) warm() error { look(a.bytes()); return nil }

// Port is a mach port of a Block's surface: a send right, which processes pass in a mach message or an XPC dictionary.
// It keeps the surface alive until Close.
type Port struct {
	name   uint32
	table  *iosurface.Table
	closed atomic.Bool
}

// SharePort makes a Port of a Block on a surface; other memory has Share. The caller closes the Port.
//
// Errors: ErrClosed, ErrShare (memory that is not a surface, or a library without ports), ErrCreate.
//
// It is tested against a stand-in on Linux only, not on a Mac.
func (b *Block) SharePort() (*Port, error) {
	const op = "share port"
	if err := b.Retain(); err != nil {
		return nil, fail(op, b.size(), ErrClosed, "share the Block before closing it")
	}
	defer b.Release()
	s, ok := b.back.(interface{ port() (*Port, error) })
	if !ok {
		return nil, fail(op, b.size(), ErrShare, "only surfaces have ports: use Share")
	}
	return s.port()
}

func (s *surface) port() (*Port, error) {
	const op = "share port"
	if err := checkPorts(s.table, op, s.Size); err != nil {
		return nil, err
	}
	name, err := s.Surface.Port()
	if err != nil {
		return nil, systemError(op, s.Size, err)
	}
	return &Port{name: name, table: s.table}, nil
}

func checkPorts(t *iosurface.Table, op string, size int) error {
	if t.HasPorts() {
		return nil
	}
	return fail(op, size, ErrShare, "the library of surfaces has no mach ports: use the library of macOS")
}

// Name is the port's mach_port_name_t in this process, 0 after Close.
func (p *Port) Name() uint32 {
	if p == nil || p.closed.Load() {
		return 0
	}
	return p.name
}

// Close deallocates the send right, once; repeating it returns nil. It does not close Blocks adopted from the Port. The
// error is ErrRelease if the system refuses it.
func (p *Port) Close() error {
	if p == nil || p.table == nil || !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	if err := iosurface.ClosePort(p.table, p.name); err != nil {
		return &Error{Op: "close port", Err: ErrRelease, Cause: err}
	}
	return nil
}

// AdoptPort makes a Block of the first size bytes of the surface of a mach port; name is the port's name in this
// process. The caller owns the port and may close it at once. Everything else is as for AdoptSurface, which finds
// surfaces by their ids.
//
// Errors: those of AdoptSurface; ErrCreate is a name that is no port of a surface, ErrShare a system without mach
// ports.
//
// It is tested against a stand-in on Linux only, not on a Mac.
func AdoptPort(name uint32, size int, opts ...Option) (*Block, error) {
	return adoptFound(size, opts, func(t *iosurface.Table) (*iosurface.Surface, error) {
		if err := checkPorts(t, "adopt", size); err != nil {
			return nil, err
		}
		return iosurface.LookupPort(t, name, size)
	})
}
