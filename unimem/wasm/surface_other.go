//go:build !linux && !darwin

package wasm

import (
	"errors"

	"github.com/anekit/anekit/unimem"
)

var errNoMap = errors.New("this system has no call for it")

func moveTouched(_, _ *unimem.Block, _ uint64) (int64, error) { return 0, errNoMap }

func mapSurface(*unimem.Block, uint64, *unimem.Block) error { return errNoMap }

func unmapSurface(*unimem.Block, uint64, uint64) error { return errNoMap }

func touched(*unimem.Block, uint64, uint64) ([]Extent, error) { return nil, errors.ErrUnsupported }
