//go:build !(((linux && !macrules) || windows) && (amd64 || arm64))

package vulkan

import "github.com/anekit/anekit/internal/host"

const libraryName = ""

// openLoader refuses: this build cannot call Vulkan.
func openLoader(string) (*loader, error) {
	hint := "build for Linux or Windows on amd64 or arm64"
	if host.Mac {
		hint = "on macOS use package metal"
	}
	return nil, newError("open", ErrUnavailable, "", "this "+host.Platform+
		" build cannot call Vulkan; "+hint)
}

func messageCallback() uintptr { return 0 }
