//go:build !((darwin || macrules) && (amd64 || arm64))

package probe

import (
	"context"
	"errors"
	"os"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func lock(context.Context, *unimem.Block, uint32) (ns float64, err error) {
	return 0, errors.New("only an IOSurface has a lock")
}

// regions counts the mappings that hold a range.
func regions(address uintptr, size int) (n int, err error) {
	end := uint64(address) + uint64(size)
	err = procmem.Mappings(0, func(m *procmem.Mapping) {
		if m.Start < end && m.End > uint64(address) {
			n++
		}
	})
	return n, err
}

// runs counts the runs of page frames that follow each other.
func runs(address uintptr, size int) (n int, err error) {
	frames, shown := procmem.Frames(0, uint64(address), size/os.Getpagesize())
	if !shown {
		return 0, errors.New("only Linux shows page frames, to processes with CAP_SYS_ADMIN")
	}
	for i, f := range frames {
		if i == 0 || f != frames[i-1]+1 {
			n++
		}
	}
	return n, nil
}
