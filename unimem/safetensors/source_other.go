//go:build !linux && !darwin

package safetensors

import (
	"errors"
	"os"
)

func openDirect(string) (*os.File, error) { return nil, errors.ErrUnsupported }
