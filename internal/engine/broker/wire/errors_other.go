//go:build !linux

package wire

import "github.com/anekit/anekit/ane"

// unsupported is the error of what this system lacks.
func unsupported(op string) error {
	return &Error{Op: op, Err: ErrUnsupported, Cause: ane.ErrUnavailable, Hint: "run it on Linux"}
}
