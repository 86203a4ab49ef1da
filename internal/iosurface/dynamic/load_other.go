//go:build !darwin && !(linux && cgo)

package dynamic

import "github.com/anekit/anekit/internal/iosurface"

// Load returns ErrNoLoader.
func Load(ioSurface, coreFoundation string) (*iosurface.Table, error) { return nil, ErrNoLoader }
