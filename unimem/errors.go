package unimem

import (
	"errors"
	"fmt"
	"strings"
)

// Memory that could not be opened, or a size that cannot be.
var (
	// ErrZeroSize answers a request for no memory at all.
	ErrZeroSize = errors.New("size is zero")
	// ErrSize answers a negative size, one that overflows, or a view that does not divide evenly.
	ErrSize = errors.New("impossible size")
	// ErrCreate answers a request that the operating system refused.
	ErrCreate = errors.New("cannot create shared memory")
	// ErrLock answers a surface that could not be locked for the CPU.
	ErrLock = errors.New("cannot lock the surface")
	// ErrExhausted answers, together with ErrCreate or ErrLock, a system that has nothing left
	// to give for now: the same call may work later, or after closing what is idle. The Error
	// says what this process has open. See OnExhausted.
	ErrExhausted = errors.New("the system gives no more surfaces for now")
	// ErrPin answers RequirePinned where the pages cannot be pinned.
	ErrPin = errors.New("cannot pin the pages")
	// ErrShare answers a Share or an Adopt of memory that has no descriptor, or none of that kind.
	ErrShare = errors.New("memory cannot be shared this way")
	// ErrSeal answers an Adopt of a file that its sharer could still cut short.
	ErrSeal = errors.New("file is not sealed")
	// ErrOption answers an option that has no meaning for what is being opened.
	ErrOption = errors.New("option does not apply")
)

// Memory in use, or no longer there.
var (
	// ErrInUse answers a Close while somebody still holds the memory.
	ErrInUse = errors.New("memory is in use")
	// ErrRelease answers a Close whose system calls failed. The memory counts as closed.
	ErrRelease = errors.New("cannot give the memory back")
	// ErrClosed answers any use after Close.
	ErrClosed = errors.New("memory is closed")
)

// Tape and typed views.
var (
	// ErrInvalidAlignment answers an alignment that is no power of two, or a view at an unaligned address.
	ErrInvalidAlignment = errors.New("invalid alignment")
	// ErrTapeFull answers a Take that does not fit into what is left.
	ErrTapeFull = errors.New("tape is full")
	// ErrPointerType answers a view of a type that contains Go pointers.
	ErrPointerType = errors.New("type contains pointers")
	// ErrForeignSpan answers a span that lies outside the Tape.
	ErrForeignSpan = errors.New("span belongs to other memory")
)

// Grid.
var (
	// ErrGridFull answers a Take when every cell is out.
	ErrGridFull = errors.New("grid is full")
	// ErrForeignCell answers a Give of a zero Cell or of one from another Grid.
	ErrForeignCell = errors.New("cell belongs to another grid")
	// ErrStaleCell answers a Give of a cell that was already given.
	ErrStaleCell = errors.New("cell was already given")
	// ErrCellSize answers a cell size that is not a positive multiple of 64 bytes.
	ErrCellSize = errors.New("cell size is not a positive multiple of 64")
)

// overflow is the ErrTapeFull of a size that no Tape could ever hold, because adding it to
// what is used overflows: it matches ErrSize too.
type overflow struct{}

func (overflow) Error() string   { return "tape is full: the size overflows" }
func (overflow) Unwrap() []error { return []error{ErrTapeFull, ErrSize} }

// Error is what every call of this package returns, except Tape.Take, TakeOne, TakeSlice,
// Grid.Take and Grid.Give, which return the bare sentinels.
type Error struct {
	Op    string // what was asked: "open", "close", "map", "view", ...
	Size  int    // bytes (for a grid: cells times cell size, or the number that is wrong)
	Err   error  // one of the sentinels of this package
	Cause error  // what the operating system said, or nil
	Hint  string // how to fix it, or empty
}

// Error gives operation, size, reason, cause and fix in one line.
func (e *Error) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "unimem: %s of %d bytes: %v", e.Op, e.Size, e.Err)
	if e.Cause != nil {
		fmt.Fprintf(&s, ": %v", e.Cause)
	}
	if e.Hint != "" {
		fmt.Fprintf(&s, "; %s", e.Hint)
	}
	return s.String()
}

// Unwrap makes errors.Is match the sentinel as well as the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}
