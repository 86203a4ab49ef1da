//go:build amd64 || arm64

package vulkan

import "golang.org/x/sys/windows"

// libraryName is the name of the Vulkan loader.
const libraryName = "vulkan-1.dll"

// openLoader loads the Vulkan loader, which stays loaded until the process ends: drivers start threads, whose code must
// not disappear. It looks in the system's folder only.
func openLoader(path string) (*loader, error) {
	search := uintptr(windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	if path != libraryName {
		search = 0
	}
	handle, err := windows.LoadLibraryEx(path, 0, search)
	if err != nil {
		return nil, newError("open", ErrUnavailable, "", path+": "+err.Error()+
			"; install the driver of the GPU's maker")
	}
	address, err := windows.GetProcAddress(handle, "vkGetInstanceProcAddr")
	if err != nil {
		return nil, newError("open", ErrUnavailable, "", err.Error()+"; give the path of a Vulkan loader")
	}
	return newLoader(address), nil
}
