//go:build !linux || macrules

package resources

import (
	"io/fs"

	"github.com/anekit/anekit/ane"
)

// trusted answers ane.ErrUnavailable.
func trusted(string) error { return &ane.Error{Op: "cache", Engine: Name, Err: ane.ErrUnavailable} }

// onDisk is the length of a file.
func onDisk(info fs.FileInfo) int64 { return info.Size() }
