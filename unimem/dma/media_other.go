//go:build !linux

package dma

import "os"

// openMedia opens a file. It goes through the page cache: the disk is a model, and on other systems nothing
// measures it.
func openMedia(path string) (f *os.File, direct bool, err error) {
	f, err = os.Open(path)
	return f, false, err
}
