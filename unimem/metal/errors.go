package metal

import (
	"errors"

	"github.com/anekit/anekit/internal/errtext"
)

var (
	// ErrUnavailable: Open in a build without Metal.
	ErrUnavailable = errors.New("no Metal in this build: build on macOS with CGO_ENABLED=1 (Xcode's command line " +
		"tools)")
	// ErrDevice: Open on a machine without a GPU that Metal supports.
	ErrDevice = errors.New("no Metal device")
	// ErrMetal3: Open of a GPU or a system without Metal 3.
	ErrMetal3 = errors.New("this GPU has no Metal 3")
	// ErrBlock: a Block that this kind of object cannot use.
	ErrBlock = errors.New("this Block cannot be used by Metal")
	// ErrReadOnly: a write to memory for reading only.
	ErrReadOnly = errors.New("memory is for reading only")
	// ErrFormat: a pixel format that does not fit the surface.
	ErrFormat = errors.New("pixel format does not fit the surface")
	// ErrShape: a width, height or plane that the surface does not have.
	ErrShape = errors.New("texture does not fit the surface")
	// ErrRefused: Metal returned nil.
	ErrRefused = errors.New("no object returned by Metal")
	// ErrClosed: the use of a closed Device, Buffer, Kernel or Event.
	ErrClosed = errors.New("device is closed")
	// ErrInUse: Close while a Work that names the object has not ended.
	ErrInUse = errors.New("the GPU uses the object")
	// ErrForeign: an object of another Device.
	ErrForeign = errors.New("object of another device")
	// ErrKernel: a Program that Metal does not compile, or that does not fit the GPU.
	ErrKernel = errors.New("kernel cannot run on this GPU")
	// ErrRange: a Range outside of its Buffer, or with an offset or length that Metal does not support.
	ErrRange = errors.New("range does not fit")
	// ErrBackwards: a signal that is not above the Event's value.
	ErrBackwards = errors.New("value is not above that of the event")
	// ErrCapture: a capture that Metal does not start.
	ErrCapture = errors.New("no capture")
)

// Failures of work that the GPU has begun: the codes of MTLCommandBufferError.
var (
	// ErrFailed: the GPU did not end the work. Every error of Work.Wait but that of its context matches it.
	ErrFailed = errors.New("the GPU did not end the work")
	// ErrLost: the GPU was removed, or this process lost access to it. Open another Device.
	ErrLost = errors.New("the GPU is lost")
	// ErrMemory: the GPU has not enough memory for the work.
	ErrMemory = errors.New("out of GPU memory")
	// ErrFault: the work accessed an address that is not mapped for the GPU.
	ErrFault = errors.New("the GPU accessed an unmapped address")
	// ErrTimeout: the work took so long that the system ended it.
	ErrTimeout = errors.New("the work took too long")
)

// Error is the error type of every call of this package.
type Error struct {
	errtext.Base // the fields Op, Err (a sentinel of this package, or an error of unimem), Detail, Cause and Hint
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string { return e.Line("metal: " + e.Op) }
