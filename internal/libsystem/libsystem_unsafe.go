package libsystem

import "unsafe"

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
