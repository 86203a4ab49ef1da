//go:build !(linux && !cgo) && !(((linux && cgo) || windows) && (amd64 || arm64))

package gpu

import (
	"context"
	"runtime"
)

// EnvDevice is the environment variable that chooses a device.
const EnvDevice = "ANEKIT_GPU"

// Open refuses: this system has no GPU that this package knows.
func Open(context.Context, string) (Device, error) {
	return nil, unavailable("no checks of a GPU on "+runtime.GOOS+"/"+runtime.GOARCH, "run it on Linux or Windows on amd64 or "+
		"arm64")
}
