//go:build cgo && (amd64 || arm64)

package gates

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// reachability makes the preloaded sanitizer search for unreachable memory and report it on standard error.
// It sees only C memory, and not pointers that only Go holds.
func reachability() error { return call("__lsan_do_recoverable_leak_check") }

// forget allocates in C and drops the pointer.
func forget() error {
	text := []byte("planted leak\x00")
	defer runtime.KeepAlive(text)
	return call("strdup", uintptr(unsafe.Pointer(&text[0])))
}

// call calls a C function of the process by name.
func call(name string, args ...uintptr) error {
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		return err
	}
	purego.SyscallN(f, args...)
	return nil
}
