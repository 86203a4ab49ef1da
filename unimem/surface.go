package unimem

import (
	"errors"
	"fmt"
	"os"

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

// Uses returns how often this process has marked the Block's surface as in use, and whether any process has, such as the
// driver of a device that works on it. known is false for other memory, after Close, and for a library that does not tell.
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
	return nil, &Error{Op: "share", Size: s.Size, Err: ErrShare,
		Hint: "an IOSurface is shared as a mach port: use SharePort"}
}

func (s *surface) close(bool) error { return s.Surface.Close() }
