//go:build !darwin && !macrules

package unimem

import "github.com/anekit/anekit/internal/iosurface"

// surfaceTable returns the library of surfaces in c: this system has none.
func surfaceTable(op string, size int, c config) (*iosurface.Table, error) {
	if c.Table == nil {
		return nil, fail(op, size, ErrShare, "only macOS has surfaces: use Share and Adopt")
	}
	return c.Table, nil
}
