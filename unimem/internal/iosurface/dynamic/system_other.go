//go:build !darwin && !(macrules && linux && cgo)

package dynamic

import "github.com/anekit/anekit/unimem/internal/iosurface"

// System returns ErrNoSystem.
func System() (*iosurface.Table, error) { return nil, ErrNoSystem }
