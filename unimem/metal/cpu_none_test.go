//go:build !(linux && cgo && (amd64 || arm64))

package metal

import "testing"

func onCPU(t *testing.T, _ *fake) {
	t.Skip("this build cannot load the kernels' texts as C++: run it on Linux with CGO_ENABLED=1")
}
