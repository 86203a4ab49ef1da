//go:build !darwin

package dynamic

import "github.com/anekit/anekit/unimem/internal/iosurface"

// System answers ErrNoSystem.
func System() (*iosurface.Table, error) { return nil, ErrNoSystem }
