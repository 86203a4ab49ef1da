//go:build !linux || !cgo

package standin

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
)

// loaded returns the error of this build.
func loaded(string) (*library, error) {
	e := &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable,
		Detail: "the stand-in framework needs Linux, this is " + host.Name,
		Hint:   "run it on Linux, or use the soft engine"}
	if host.Name == "linux" {
		e.Detail = "this program was built without cgo and cannot load libraries"
		e.Hint = "build with CGO_ENABLED=1, or use the soft engine"
	}
	return nil, e
}
