package metal

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable answers Open where there is no Metal.
	ErrUnavailable = errors.New("no Metal in this build: build on macOS with CGO_ENABLED=1 (Xcode's command line tools)")
	// ErrDevice answers Open on a machine without a GPU that Metal knows.
	ErrDevice = errors.New("no Metal device")
	// ErrBlock answers a Block that cannot be shared with the GPU in this way.
	ErrBlock = errors.New("this Block cannot be used by Metal so")
	// ErrFormat answers a pixel format that does not fit the surface.
	ErrFormat = errors.New("pixel format does not fit the surface")
	// ErrShape answers a width, height or plane that the surface does not have.
	ErrShape = errors.New("texture does not fit the surface")
	// ErrRefused answers a call for which Metal returned nothing.
	ErrRefused = errors.New("no object came back from Metal")
	// ErrClosed answers the use of a closed Device.
	ErrClosed = errors.New("device is closed")
)

// Error is what every call of this package returns.
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

// Unwrap gives the sentinel.
func (e *Error) Unwrap() error { return e.Err }
