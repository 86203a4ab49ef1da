//go:build !linux || macrules

package server

import (
	"io/fs"

	"github.com/anekit/anekit/ane"
)

// trusted answers ane.ErrUnavailable.
func trusted(string) error { return unavailable("cache") }

// onDisk is the length of a file.
func onDisk(info fs.FileInfo) int64 { return info.Size() }

// unavailable is the answer of a system on which the broker cannot work.
func unavailable(op string) error {
	return &ane.Error{Op: op, Engine: Name, Err: ane.ErrUnavailable,
		Detail: "memory is passed between processes on Linux only", Hint: "use the software engine of this process"}
}
