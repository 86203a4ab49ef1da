//go:build darwin || macrules

package dma

import (
	"github.com/anekit/anekit/unimem/dma/internal/iokit"
	"github.com/anekit/anekit/unimem/dma/internal/iokit/dynamic"
)

// system loads IOKit.
func system() (*iokit.Table, error) {
	table, err := dynamic.Load(dynamic.Path)
	if err != nil {
		return nil, failure("open", nil, -1, ErrUnavailable, err, "")
	}
	return table, nil
}
