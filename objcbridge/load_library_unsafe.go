//go:build ((darwin && !ios) || (linux && cgo && !android)) && (amd64 || arm64)

package objcbridge

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// This build can load libraries.
const cannotLoad, howToLoad = "", ""

// openLibrary loads a file for the life of the process. Its symbols are not global.
func openLibrary(path string) (uintptr, error) {
	// The loader keeps the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// findSymbol returns the address of a symbol or 0.
func findSymbol(handle uintptr, symbol string) uintptr {
	address, err := purego.Dlsym(handle, symbol)
	if err != nil {
		return 0
	}
	return address
}

// call calls a C function with up to 32 words. Go memory whose address is converted in the call
// expression is on the heap and stays alive until the return.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(function, args...)
	return int32(uint32(r))
}
