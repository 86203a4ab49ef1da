//go:build !linux && !darwin

package wasm

import (
	"errors"

	"github.com/anekit/anekit/unimem"
)

var errNoMap = errors.New("this system has no call for it")

// overlay would map surfaces over the memory of a guest.
type overlay struct{ guest *unimem.Block }

func (*overlay) move(*unimem.Block, uint64) (int64, error) { return 0, errNoMap }

func (*overlay) cover(*unimem.Block, uint64) error { return errNoMap }

func (*overlay) uncover(uint64, uint64) error { return errNoMap }

func (*overlay) close() error { return nil }

func touched(*unimem.Block, uint64, uint64) ([]Extent, error) { return nil, errors.ErrUnsupported }
