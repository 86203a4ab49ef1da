//go:build !linux || macrules

package dma

import "os"

// openMedia opens a file, with flags such as os.O_RDONLY. It goes through the page cache: the disk is a model, and on
// other systems nothing measures it.
func openMedia(path string, flags int) (f *os.File, direct bool, err error) {
	f, err = os.OpenFile(path, flags, 0)
	return f, false, err
}
