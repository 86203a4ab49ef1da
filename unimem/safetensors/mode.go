package safetensors

import (
	"context"
	"errors"

	"github.com/anekit/anekit/unimem"
)

// Mode is how the bytes of files come to memory.
type Mode string

// The modes of OpenAs.
const (
	MapMode  Mode = "map"  // as Open: pages of the files, read when they are touched
	ReadMode Mode = "read" // as Load, into memory of the File
	AutoMode Mode = "auto" // the one of them that Auto chooses
)

// Modes lists the modes.
func Modes() []Mode { return []Mode{MapMode, ReadMode, AutoMode} }

// String returns the mode, which is "map", "read" or "auto".
func (m Mode) String() string { return string(m) }

// OpenAs opens the files that Open opens, and reads them as Load does if mode or Auto says so: into memory that belongs
// to the File. Close frees it, and returns unimem.ErrInUse while a Block of Tensor.Block is retained. Where the system
// refuses that memory, AutoMode maps. Report has how the File was opened, and the reason.
//
// Errors: those of Open and of Load, and those of unimem.Start.
func OpenAs(ctx context.Context, path string, mode Mode, opts ...Option) (*File, error) {
	if mode == MapMode {
		return Open(path)
	}
	c := configure(opts)
	c.auto = mode == AutoMode
	f, err := load(ctx, path, nil, c)
	if c.auto && errors.Is(err, unimem.ErrExhausted) {
		if f, err = Open(path); err == nil {
			f.report.Why = "Auto maps: the system has no memory for a read"
		}
	}
	return f, err
}
