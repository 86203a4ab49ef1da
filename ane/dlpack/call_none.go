//go:build !((darwin || freebsd || linux || windows) && (amd64 || arm64))

package dlpack

import "github.com/anekit/anekit/ane"

func entryPoints() (deleters, error) {
	return deleters{}, &ane.Error{Op: "dlpack", Err: ane.ErrUnavailable,
		Hint: "C functions can be called on Linux, macOS, FreeBSD and Windows, on amd64 and arm64"}
}

func call(uintptr, uintptr) {}
