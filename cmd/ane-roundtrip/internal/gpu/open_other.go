//go:build macrules || (!(linux && !cgo) && !(((linux && cgo) || windows) && (amd64 || arm64)) && !(darwin && cgo))

package gpu

import (
	"context"

	"github.com/anekit/anekit/internal/host"
)

// EnvDevice is the environment variable that chooses a device.
const EnvDevice = "ANEKIT_GPU"

// Open refuses: this system has no GPU that this package knows.
func Open(context.Context, string) (Device, error) {
	hint := "run it on Linux or Windows on amd64 or arm64"
	if host.Name == "darwin" {
		hint = "build it with CGO_ENABLED=1, which needs Apple's command line tools"
	}
	return nil, unavailable("no checks of a GPU in this build for "+host.Platform, hint)
}
