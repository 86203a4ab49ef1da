//go:build !linux && !darwin

package wasm

import (
	"errors"

	"github.com/anekit/anekit/unimem"
)

// overlay would map surfaces over the memory of a guest.
type overlay struct{ guest *unimem.Block }

func (*overlay) move(*unimem.Block, uint64) (int64, error) { return 0, errors.ErrUnsupported }

func (*overlay) cover(*unimem.Block, uint64) error { return errors.ErrUnsupported }

func (*overlay) uncover(uint64, uint64) error { return errors.ErrUnsupported }

func (*overlay) close() error { return nil }

func touched(*unimem.Block, uint64, uint64) ([]Extent, error) { return nil, errors.ErrUnsupported }
