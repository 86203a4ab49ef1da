//go:build !darwin && !macrules

package unimem

import "github.com/anekit/anekit/internal/iosurface"

// systemSurfaces returns the system's library of surfaces.
func systemSurfaces(op string, size int) (*iosurface.Table, error) {
	return nil, fail(op, size, ErrShare, "only macOS has surfaces: use Share and Adopt")
}
