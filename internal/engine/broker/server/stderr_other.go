//go:build !linux || macrules

package server

import (
	"io"
	"os"
)

// Stderr is standard error.
func Stderr() io.Writer { return os.Stderr }
