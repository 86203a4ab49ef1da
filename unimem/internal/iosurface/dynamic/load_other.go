//go:build !darwin && !(linux && cgo)

package dynamic

import "github.com/anekit/anekit/unimem/internal/iosurface"

// Load returns ErrNoLoader.
func Load(ioSurface, coreFoundation string) (*iosurface.Table, error) { return nil, ErrNoLoader }
