//go:build !((darwin || freebsd || linux || windows) && (amd64 || arm64))

package dlpack

import (
	"errors"

	"github.com/anekit/anekit/ane"
)

func entryPoints() (deleters, error) { return deleters{}, unavailable() }

func call(uintptr, uintptr) {}

// unavailable is the error of a system without calls of C functions.
func unavailable() error {
	return &ane.Error{Op: "dlpack", Err: ane.ErrUnavailable, Detail: errors.ErrUnsupported.Error(),
		Hint: "C functions can be called on Linux, macOS, FreeBSD and Windows, on amd64 and arm64"}
}
