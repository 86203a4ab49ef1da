package metal

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable: Open in a build without Metal.
	ErrUnavailable = errors.New("no Metal in this build: build on macOS with CGO_ENABLED=1 (Xcode's command line " +
		"tools)")
	// ErrDevice: Open on a machine without a GPU that Metal supports.
	ErrDevice = errors.New("no Metal device")
	// ErrBlock: a Block that this kind of object cannot use.
	ErrBlock = errors.New("this Block cannot be used by Metal")
	// ErrFormat: a pixel format that does not fit the surface.
	ErrFormat = errors.New("pixel format does not fit the surface")
	// ErrShape: a width, height or plane that the surface does not have.
	ErrShape = errors.New("texture does not fit the surface")
	// ErrRefused: Metal returned nil.
	ErrRefused = errors.New("no object returned by Metal")
	// ErrClosed: the use of a closed Device.
	ErrClosed = errors.New("device is closed")
)

// Error is the error type of every call of this package.
type Error struct {
	Op   string // "open", "buffer", "texture"
	Err  error  // one of the sentinels of this package, or an error of unimem
	Hint string // what is wrong and how to fix it, or empty
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("metal: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("metal: %s: %v; %s", e.Op, e.Err, e.Hint)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
