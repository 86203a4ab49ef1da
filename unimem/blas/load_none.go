//go:build !((darwin || (linux && cgo)) && (amd64 || arm64))

package blas

import "runtime"

const systemFile, systemName = "", ""

// open returns ErrUnavailable.
func open(path, _ string) (*Library, error) {
	hint := "Windows builds have none"
	switch runtime.GOOS {
	case "linux":
		hint = "this build cannot load libraries: build with CGO_ENABLED=1 for amd64 or arm64"
	case "windows":
	default:
		hint = runtime.GOOS + " builds have none"
	}
	return nil, &Error{Op: "open", What: path, Err: ErrUnavailable, Hint: hint}
}
