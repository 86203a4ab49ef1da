//go:build !darwin && !macrules

package dma

import "github.com/anekit/anekit/unimem/dma/internal/iokit"

// system returns an error: this system has no IOKit. Package dynamic, which loads it on a Mac, would make programs of
// Linux need the C library.
func system() (*iokit.Table, error) {
	return nil, failure("open", nil, -1, ErrUnavailable, nil,
		"the driver extension needs macOS on Apple silicon; Simulate needs neither")
}
