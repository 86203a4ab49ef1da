//go:build !(((linux && cgo && !macrules) || windows) && (amd64 || arm64)) && !(darwin && cgo)

package gpu

import (
	"context"
	"runtime"

	"github.com/anekit/anekit/internal/host"
)

// Open refuses: this build has no GPU that this package knows. A static program cannot load a driver.
func Open(context.Context, string) (Device, error) {
	switch {
	case host.Name == "darwin":
		return nil, unavailable("no checks of a GPU in this build for "+host.Platform,
			"build it with CGO_ENABLED=1, which needs Apple's command line tools")
	case host.Name == "linux" && !host.Mac && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"):
		return nil, unavailable("this static program cannot load the driver of a GPU",
			"build it with CGO_ENABLED=1 (go build ./cmd/ane-roundtrip), or run the command that `make bridge` puts into "+
				"build/bridge")
	}
	return nil, unavailable("no checks of a GPU in this build for "+host.Platform, "run it on Linux or Windows on amd64 or arm64")
}
