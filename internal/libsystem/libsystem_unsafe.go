package libsystem

import (
	"os"
	"unsafe"
)

// functions are addresses of libSystem.
type functions struct {
	taskInfo, remap, deallocate, confstr, mincore, sysctl uintptr
	task                                                  uintptr // mach_port_t of this process
}

// mach is the error of a mach call with its kern_return_t.
func mach(name string, code uintptr) error {
	if int32(code) == 0 {
		return nil
	}
	return &Error{Call: name, Code: int64(int32(code))}
}

// Footprint returns the memory that this process is charged for in bytes: phys_footprint of <mach/task_info.h>. Used
// pages of its own count, once, and memory that IOKit maps for it, such as surfaces, by size; clean pages of files do not.
func Footprint() (int64, error) {
	f, err := load()
	if err != nil {
		return 0, err
	}
	// task_vm_info in words of 32 bits: its first revision ends with phys_footprint.
	const flavor, footprint, words = 22, 36, 38
	var info [words]uint32
	count := uint32(words)
	r, _ := call(f.taskInfo, f.task, flavor, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&count)))
	if err := mach("task_info", r); err != nil {
		return 0, err
	}
	n := int64(uint64(info[footprint]) | uint64(info[footprint+1])<<32)
	if count < words || n == 0 {
		return 0, &Error{Call: "task_info", Detail: "this system does not report phys_footprint"}
	}
	return n, nil
}

// UserTempDir returns the user's folder for temporary files, which ends with a slash: DARWIN_USER_TEMP_DIR of
// confstr(3). TMPDIR does not change it.
func UserTempDir() (string, error) {
	f, err := load()
	if err != nil {
		return "", err
	}
	const name = 65537
	var path [1024]byte // PATH_MAX
	n, errno := call(f.confstr, name, uintptr(unsafe.Pointer(&path)), uintptr(len(path)))
	if n == 0 || n > uintptr(len(path)) {
		return "", &Error{Call: "confstr", Code: errno, Detail: "no DARWIN_USER_TEMP_DIR"}
	}
	return string(path[:n-1]), nil
}

// sysctl fills to and returns the bytes of the answer.
func sysctl(name string, to []byte) (int, error) {
	f, err := load()
	if err != nil {
		return 0, err
	}
	c, size := append([]byte(name), 0), uintptr(len(to))
	r, errno := call(f.sysctl, uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&to[0])),
		uintptr(unsafe.Pointer(&size)), 0, 0)
	if int32(r) != 0 {
		return 0, &Error{Call: "sysctl " + name, Code: errno}
	}
	return int(size), nil
}

// SysctlString returns a text of sysctl(3).
func SysctlString(name string) (string, error) {
	to := make([]byte, 1024)
	n, err := sysctl(name, to)
	if err != nil || n == 0 {
		return "", err
	}
	return string(to[:n-1]), nil
}

// SysctlUint64 returns a number of sysctl(3) of 32 or 64 bits.
func SysctlUint64(name string) (uint64, error) {
	var value uint64 // of a little-endian processor
	n, err := sysctl(name, unsafe.Slice((*byte)(unsafe.Pointer(&value)), unsafe.Sizeof(value)))
	if err == nil && n != 4 && n != 8 {
		err = &Error{Call: "sysctl " + name, Detail: "the answer is no number"}
	}
	return value, err
}

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

// AvailableMemory returns the bytes of memory that processes can use before macOS kills any. kern.memorystatus_level
// states them as a percentage of all memory.
func AvailableMemory() (int64, error) {
	all, err := SysctlUint64("hw.memsize")
	if err != nil {
		return 0, err
	}
	level, err := SysctlUint64("kern.memorystatus_level")
	if err != nil {
		return 0, err
	}
	return int64(all / 100 * min(level, 100)), nil
}
