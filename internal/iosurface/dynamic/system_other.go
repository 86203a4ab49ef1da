//go:build !darwin && !(macrules && linux && cgo)

package dynamic

import "github.com/anekit/anekit/internal/iosurface"

// System returns ErrNoSystem.
func System() (*iosurface.Table, error) { return nil, ErrNoSystem }
