//go:build (darwin || (macrules && linux && cgo)) && (amd64 || arm64)

package libsystem

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// process is the library, once loaded; it stays loaded.
var process struct {
	sync.Mutex
	f *functions
}

// load returns the functions. It searches again after a failure.
func load() (*functions, error) {
	process.Lock()
	defer process.Unlock()
	if process.f != nil {
		return process.f, nil
	}
	path, err := library()
	if err != nil {
		return nil, err
	}
	// The loader stores the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	f := new(functions)
	var self uintptr
	for name, at := range map[string]*uintptr{"task_info": &f.taskInfo, "mach_vm_remap": &f.remap,
		"mach_vm_deallocate": &f.deallocate, "confstr": &f.confstr, "mincore": &f.mincore,
		"sysctlbyname": &f.sysctl, "mach_task_self_": &self} {
		if *at, err = purego.Dlsym(lib, name); err != nil {
			return nil, err
		}
	}
	f.task = uintptr(**(**uint32)(unsafe.Pointer(&self)))
	process.f = f
	return f, nil
}

// call calls a C function. Go memory whose address is converted in the call expression is on the heap and stays
// alive until the return.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) (result uintptr, errno int64) {
	r, _, e := purego.SyscallN(function, args...)
	return r, int64(e)
}
