//go:build !((darwin || (linux && cgo)) && (amd64 || arm64))

package blas

import (
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/host"
)

const systemFile, systemName = "", ""

// open returns ErrUnavailable.
func open(path, _ string) (*Library, error) {
	hint := host.Name + " builds have none"
	if host.Name == "linux" {
		hint = "this build cannot load libraries: build with CGO_ENABLED=1 for amd64 or arm64"
	}
	return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrUnavailable, Hint: hint}, What: path}
}
