//go:build (amd64 || arm64) && !macrules

package vulkan

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// libraryName is the name of the Vulkan loader.
const libraryName = "libvulkan.so.1"

// openLoader loads the Vulkan loader, which stays loaded until the process ends: drivers start threads, whose code must
// not disappear.
func openLoader(path string) (*loader, error) {
	// dlopen stores the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, newError("open", ErrUnavailable, "", err.Error()+"; "+howToInstall)
	}
	address, err := purego.Dlsym(handle, "vkGetInstanceProcAddr")
	if err != nil {
		return nil, newError("open", ErrUnavailable, "", err.Error()+"; give the path of a Vulkan loader")
	}
	return newLoader(address), nil
}
