//go:build ((linux && !macrules) || windows) && (amd64 || arm64)

package vulkan

import "github.com/ebitengine/purego"

// newLoader makes the loader of a vkGetInstanceProcAddr.
func newLoader(getProc uintptr) *loader {
	call := func(address uintptr, args ...uintptr) uintptr {
		r, _, _ := purego.SyscallN(address, args...)
		return r
	}
	return &loader{call: call, get: func(instance uintptr, name string) uintptr {
		var a arena
		defer a.free()
		return call(getProc, instance, a.text(name))
	}}
}

// messageCallback returns the C address of receive.
func messageCallback() uintptr {
	process.Lock()
	defer process.Unlock()
	if process.callback == 0 {
		process.callback = purego.NewCallback(func(severity, kind, data, user uintptr) uintptr {
			receive(uint32(severity), data, user)
			return 0 // VK_FALSE: the call continues
		})
	}
	return process.callback
}
