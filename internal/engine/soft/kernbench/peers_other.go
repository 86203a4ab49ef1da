//go:build !linux && !darwin

package kernbench

import "errors"

// openBLAS needs a library that is loaded at run time.
func openBLAS() (multiply, error) { return nil, errors.ErrUnsupported }
