package unimem

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/errtext"
)

// Errors of opening memory, and invalid sizes.
var (
	// ErrZeroSize: a request for zero bytes.
	ErrZeroSize = errors.New("size is zero")
	// ErrSize: a negative size, one that overflows, or a view that does not divide evenly.
	ErrSize = errors.New("impossible size")
	// ErrCreate: the operating system refused the request.
	ErrCreate = errors.New("cannot create shared memory")
	// ErrLock: the surface could not be locked for the CPU.
	ErrLock = errors.New("cannot lock the surface")
	// ErrExhausted: the system has no more surfaces, descriptors or memory for now. The error also matches ErrCreate
	// or ErrLock, and has what this process has open. A retry may succeed later, or after closing idle memory. See
	// OnExhausted.
	ErrExhausted = errors.New("the system gives no more memory for now")
	// ErrPin: RequirePinned was given and the pages cannot be pinned.
	ErrPin = errors.New("cannot pin the pages")
	// ErrPinUnknown: the system does not tell whether pages are pinned. The error also matches ErrPin.
	ErrPinUnknown = errors.New("whether the pages are pinned is not known")
	// ErrShare: Share, Adopt or MapFile of memory that has no descriptor, or one of another kind.
	ErrShare = errors.New("memory cannot be shared this way")
	// ErrSeal: Adopt of a file that the sharing process can still truncate.
	ErrSeal = errors.New("file is not sealed")
	// ErrOption: an option that does not apply to the opened object.
	ErrOption = errors.New("option does not apply")
	// ErrChanged: another process made a mapped file shorter. See Guard.
	ErrChanged = errors.New("the file has changed")
)

// Errors of closing, and of closed memory.
var (
	// ErrInUse: Close while the memory is retained, or while cells of the Grid are taken.
	ErrInUse = errors.New("memory is in use")
	// ErrRelease: a system call of Close failed. The memory counts as closed.
	ErrRelease = errors.New("cannot free the memory")
	// ErrClosed: use after Close.
	ErrClosed = errors.New("memory is closed")
)

// Errors of Tapes and typed views.
var (
	// ErrInvalidAlignment: an alignment that is not a power of two, or a view or a range of a file that begins at an
	// unaligned place.
	ErrInvalidAlignment = errors.New("invalid alignment")
	// ErrTapeFull: a Take that does not fit into the free part.
	ErrTapeFull = errors.New("tape is full")
	// ErrPointerType: a view of a type that contains Go pointers.
	ErrPointerType = errors.New("type contains pointers")
	// ErrBoolType: a view of a type that contains bool. Memory may hold any byte, and a bool that is neither 0 nor 1
	// indexes out of bounds.
	ErrBoolType = errors.New("type contains bool: use uint8")
	// ErrForeignSpan: a span outside of the Tape.
	ErrForeignSpan = errors.New("span belongs to other memory")
)

// Errors of Grids.
var (
	// ErrGridFull: a Take while every cell is taken.
	ErrGridFull = errors.New("grid is full")
	// ErrForeignCell: a Give of a zero Cell or of one from another Grid.
	ErrForeignCell = errors.New("cell belongs to another grid")
	// ErrStaleCell: a Give of a cell that was already given.
	ErrStaleCell = errors.New("cell was already given")
	// ErrCellSize: a cell size that is not a positive multiple of 64 bytes.
	ErrCellSize = errors.New("cell size is not a positive multiple of 64")
)

// errOverflow is the error of a size that no Tape can hold, because adding it to the used bytes overflows.
var errOverflow = fmt.Errorf("%w: %w", ErrTapeFull, ErrSize)

// Error is the error type of every call of this package, except Tape.Take, TakeOne, TakeSlice, Grid.Take and Grid.Give,
// which return the bare sentinels.
type Error struct {
	// the fields Op, Err (one of the sentinels of this package), Detail, Cause (the error of the operating system), Hint
	errtext.Base
	Size int // bytes (for a grid: cells times cell size, or the wrong number)
}

// fail makes an Error without a cause.
func fail(op string, size int, err error, hint string) *Error {
	return because(op, size, err, nil, hint)
}

// because makes an Error.
func because(op string, size int, err, cause error, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: err, Cause: cause, Hint: hint}, Size: size}
}

// Error returns call, size, sentinel, cause and hint on one line.
func (e *Error) Error() string {
	return e.Line(fmt.Sprintf("unimem: %s of %d bytes", e.Op, e.Size))
}
