package dma

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

var (
	// ErrUnavailable: this call has no driver here. It is returned by Open without the driver extension, OpenDisk of a
	// Device that is not simulated, and a Ring where the system refuses io_uring.
	ErrUnavailable = errors.New("no DMA driver here")
	// ErrClosed: use after Close.
	ErrClosed = errors.New("device is closed")
	// ErrExhausted: the device has not enough free addresses. Release Blocks, and call again.
	ErrExhausted = errors.New("no device addresses are left")
	// ErrNotMapped: Release, or a transfer, of a Block that Segments has not mapped.
	ErrNotMapped = errors.New("the Block is not mapped for the device")
	// ErrDriver: the driver has returned segments that break its rules.
	ErrDriver = errors.New("the driver broke its rules")
	// ErrRefused: the driver refused the call. The cause has its code.
	ErrRefused = errors.New("the driver refused the call")
	// ErrRange: a transfer outside of a Block or a disk, or not a whole number of sectors.
	ErrRange = errors.New("outside of the Block or the disk")
	// ErrReadOnly: a read-only Block, which a device could write to, or a disk without Writable.
	ErrReadOnly = errors.New("read-only Block or disk")
	// ErrFault: the device accessed an address that is not mapped.
	ErrFault = errors.New("the device accessed an unmapped address")
	// ErrTransfer: a read or write failed. The cause is the *Status of a Disk, an error of the system, or that of ctx.
	ErrTransfer = errors.New("the transfer failed")
)

// Error is the error type of every call of this package.
type Error struct {
	// the fields Op, Err (a sentinel of this package or of unimem), Detail, Cause (the error of the driver) and Hint
	errtext.Base
	Block  uint32 // id of the Block, 0 for none
	Offset int    // bytes in the Block, -1 for none
}

// failure makes an Error. b may be nil.
func failure(op string, b *unimem.Block, offset int, err, cause error, hint string) *Error {
	e := &Error{Base: errtext.Base{Op: op, Err: err, Cause: cause, Hint: hint}, Offset: offset}
	if b != nil {
		e.Block = b.ID()
	}
	return e
}

// Error returns call, Block, offset, sentinel, cause and hint on one line.
func (e *Error) Error() string {
	call := "dma: " + e.Op
	if e.Block != 0 {
		call += fmt.Sprintf(" of Block %d", e.Block)
	}
	if e.Offset >= 0 {
		call += fmt.Sprintf(" at byte %d", e.Offset)
	}
	return e.Line(call)
}

// Errors are the failures of several commands of one transfer, in the order of their bytes. errors.Is and errors.As
// look at each.
type Errors []*Error

// Error is the text of the first failure, with the number of the others.
func (e Errors) Error() string {
	switch len(e) {
	case 0:
		return "dma: no error"
	case 1:
		return e[0].Error()
	case 2:
		return e[0].Error() + "; another command failed too"
	}
	return fmt.Sprintf("%v; %d other commands failed too", e[0], len(e)-1)
}

// Unwrap returns the failures.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}
