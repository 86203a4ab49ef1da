package libsystem

import (
	"os"
	"unsafe"
)

// Mincore returns the flags of each page of size bytes from address, which begins a page.
func Mincore(address uintptr, size int) ([]byte, error) {
	f, err := load()
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	flags := make([]byte, max((size+page-1)/page, 1))
	r, errno := call(f.mincore, address, uintptr(size), uintptr(unsafe.Pointer(&flags[0])))
	if int32(r) != 0 {
		return nil, &Error{Call: "mincore", Code: errno}
	}
	return flags, nil
}

// Remap maps the pages of size bytes from source at target too, in place of what is mapped there. Both begin a page.
func Remap(target, source uintptr, size int) error {
	const fixed, overwrite = 0x0000, 0x4000 // <mach/vm_statistics.h>
	_, err := remap(target, source, size, fixed|overwrite)
	return err
}

// MapAgain maps the pages of size bytes from source a second time and returns where.
func MapAgain(source uintptr, size int) (uintptr, error) {
	const anywhere = 0x0001
	return remap(0, source, size, anywhere)
}

func remap(target, source uintptr, size int, flags uintptr) (uintptr, error) {
	f, err := load()
	if err != nil {
		return 0, err
	}
	const mask, share, inheritNone = 0, 0, 2 // <mach/vm_inherit.h>
	at := uint64(target)
	var current, maximum int32
	r, _ := call(f.remap, f.task, uintptr(unsafe.Pointer(&at)), uintptr(size), mask, flags, f.task, source, share,
		uintptr(unsafe.Pointer(&current)), uintptr(unsafe.Pointer(&maximum)), inheritNone)
	return uintptr(at), mach("mach_vm_remap", r)
}

// Deallocate unmaps size bytes from address.
func Deallocate(address uintptr, size int) error {
	f, err := load()
	if err != nil {
		return err
	}
	r, _ := call(f.deallocate, f.task, address, uintptr(size))
	return mach("mach_vm_deallocate", r)
}
