//go:build macrules && linux && cgo

package dynamic

import (
	"fmt"
	"sync"

	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/iosurface"
)

// system is the stand-in for the libraries of macOS, once loaded.
var system struct {
	sync.Mutex
	table *iosurface.Table
}

// System returns the table of the stand-in. It searches again after a failure.
func System() (*iosurface.Table, error) {
	system.Lock()
	defer system.Unlock()
	if system.table != nil {
		return system.table, nil
	}
	path, err := bridgedir.Host().Find(bridgedir.Surface)
	if err != nil {
		return nil, fmt.Errorf("no stand-in for IOSurface: %w; %s", err, bridgedir.Remedy)
	}
	system.table, err = Load(path, path)
	return system.table, err
}
