//go:build !((darwin || macrules) && (amd64 || arm64))

package probe

import (
	"context"
	"errors"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func lock(context.Context, *unimem.Block, uint32) (ns float64, err error) {
	return 0, errors.New("only an IOSurface has a lock")
}

// regions counts the mappings that hold a range.
func regions(address uintptr, size int) (n float64, err error) {
	end := uint64(address) + uint64(size)
	err = procmem.Mappings(0, func(m *procmem.Mapping) {
		if m.Start < end && m.End > uint64(address) {
			n++
		}
	})
	return n, err
}
