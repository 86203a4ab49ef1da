//go:build linux && !cgo && !macrules

package gpu

import "context"

// EnvDevice is the environment variable that chooses a device.
const EnvDevice = "ANEKIT_GPU"

// Open refuses: a static program cannot load a driver.
func Open(context.Context, string) (Device, error) {
	return nil, unavailable("this static program cannot load the driver of a GPU",
		"build it with CGO_ENABLED=1 (go build ./cmd/ane-roundtrip), or run the command that `make bridge` puts into "+
			"build/bridge")
}
