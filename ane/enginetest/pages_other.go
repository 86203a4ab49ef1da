//go:build !linux

package enginetest

import (
	"errors"
	"runtime"
)

// pages answers that the memory of this process cannot be counted here.
func pages() (int64, error) {
	return 0, errors.New("no count of shared pages on " + runtime.GOOS)
}
