//go:build (darwin || (linux && cgo)) && (amd64 || arm64)

package dynamic

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/unimem/dma/internal/iokit"
)

// Load fills a Table from a library, which stays loaded until the process ends, unless Load fails. mach_task_self_ may
// be in it or in a library that it depends on.
func Load(path string) (*iokit.Table, error) {
	// The loader stores the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	var missing error
	at := func(address uintptr, err error) uintptr {
		if err != nil && missing == nil {
			missing = fmt.Errorf("%s: %w", path, err)
		}
		return address
	}
	f := functions{
		matching: at(purego.Dlsym(lib, "IOServiceNameMatching")),
		service:  at(purego.Dlsym(lib, "IOServiceGetMatchingService")),
		open:     at(purego.Dlsym(lib, "IOServiceOpen")),
		close:    at(purego.Dlsym(lib, "IOServiceClose")),
		release:  at(purego.Dlsym(lib, "IOObjectRelease")),
		call:     at(purego.Dlsym(lib, "IOConnectCallMethod")),
		mapping:  at(purego.Dlsym(lib, "IOConnectMapMemory64")),
		unmap:    at(purego.Dlsym(lib, "IOConnectUnmapMemory64")),
		task:     at(purego.Dlsym(lib, "mach_task_self_")), // mach_port_t of mach_init.h
	}
	if missing != nil {
		_ = purego.Dlclose(lib) // the first failure is the one to report
		return nil, missing
	}
	return f.table(), nil
}

// functions has addresses of C functions, and of the variable that holds the task's port.
type functions struct {
	matching, service, open, close, release, call, mapping, unmap, task uintptr
}

func (f functions) self() uintptr { return uintptr(**(**uint32)(unsafe.Pointer(&f.task))) }

func (f functions) table() *iokit.Table {
	return &iokit.Table{
		Service: func(name string) uint32 {
			text := append([]byte(name), 0)
			matching := call(f.matching, uintptr(unsafe.Pointer(&text[0])))
			runtime.KeepAlive(text)
			if matching == 0 {
				return 0
			}
			const mainPort = 0 // kIOMainPortDefault
			return uint32(call(f.service, mainPort, matching))
		},
		Open: func(service uint32) (connect uint32, code int32) {
			out := new(uint32)
			code = int32(uint32(call(f.open, uintptr(service), f.self(), 0, uintptr(unsafe.Pointer(out)))))
			return *out, code
		},
		Close:   func(connect uint32) int32 { return int32(uint32(call(f.close, uintptr(connect)))) },
		Release: func(object uint32) int32 { return int32(uint32(call(f.release, uintptr(object)))) },
		Call:    f.method,
		Map: func(connect, kind uint32) ([]byte, int32) {
			const anywhere = 1 // kIOMapAnywhere
			place := new([2]uint64)
			code := int32(uint32(call(f.mapping, uintptr(connect), uintptr(kind), f.self(),
				uintptr(unsafe.Pointer(&place[0])), uintptr(unsafe.Pointer(&place[1])), anywhere)))
			if code != 0 {
				return nil, code
			}
			if place[0] == 0 || place[1] > 1<<48 || place[0]+place[1] < place[0] { // no memory of a process
				return nil, 0
			}
			address := uintptr(place[0]) // not memory of Go
			return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), int(place[1])), 0
		},
		Unmap: func(connect, kind uint32, mem []byte) int32 {
			return int32(uint32(call(f.unmap, uintptr(connect), uintptr(kind), f.self(),
				uintptr(unsafe.Pointer(unsafe.SliceData(mem))))))
		},
	}
}

func (f functions) method(connect, selector uint32, in []uint64, inBytes []byte, out []uint64, outBytes []byte) (n,
	bytes int, code int32) {
	count := new(uint32)
	size := new(uintptr)
	*count, *size = uint32(len(out)), uintptr(len(outBytes))
	code = int32(uint32(call(f.call, uintptr(connect), uintptr(selector),
		uintptr(unsafe.Pointer(unsafe.SliceData(in))), uintptr(len(in)),
		uintptr(unsafe.Pointer(unsafe.SliceData(inBytes))), uintptr(len(inBytes)),
		uintptr(unsafe.Pointer(unsafe.SliceData(out))), uintptr(unsafe.Pointer(count)),
		uintptr(unsafe.Pointer(unsafe.SliceData(outBytes))), uintptr(unsafe.Pointer(size)))))
	return int(*count), int(min(*size, math.MaxInt)), code
}

// call calls a C function. Go memory whose address is converted in the call expression is on the heap and stays alive
// until the return.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}
