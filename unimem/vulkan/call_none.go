//go:build !((linux || windows) && (amd64 || arm64))

package vulkan

import "runtime"

const library = ""

// openLoader refuses: this build cannot call Vulkan.
func openLoader(string) (*loader, error) {
	hint := "build for Linux or Windows on amd64 or arm64"
	if runtime.GOOS == "darwin" {
		hint = "on macOS use package metal"
	}
	return nil, &Error{Op: "open", Err: ErrUnavailable, Hint: "this " + runtime.GOOS + "/" + runtime.GOARCH +
		" build cannot call Vulkan; " + hint}
}

func messageCallback() uintptr { return 0 }
