//go:build !darwin

package unimem

import "github.com/anekit/anekit/unimem/internal/iosurface"

// surfaceTable is the library of surfaces that c asks for: this system has none of its own.
func surfaceTable(op string, size int, c config) (*iosurface.Table, error) {
	if c.Table == nil {
		return nil, &Error{Op: op, Size: size, Err: ErrShare,
			Hint: "only macOS has surfaces of its own: elsewhere use Share and Adopt"}
	}
	return c.Table, nil
}
