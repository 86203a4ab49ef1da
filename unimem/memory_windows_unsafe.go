//go:build windows

package unimem

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of sysinfoapi.h.
type memoryStatus struct {
	length, load                         uint32
	totalPhys, availPhys                 uint64
	totalPageFile, availPageFile         uint64
	totalVirtual, availVirtual, availExt uint64
}

// memoryOf describes machineMemory in messages.
const memoryOf = "this machine has no more memory and page file"

// machineMemory is memory and page file in bytes.
func machineMemory() uint64 {
	s, ok := globalMemory()
	if !ok {
		return fallbackMemory
	}
	return s.totalPageFile
}

// systemRoom is what the page file leaves.
func systemRoom(int) room {
	s, ok := globalMemory()
	if !ok {
		return unlimited()
	}
	return room{limit: "the page file", free: s.availPageFile, hint: "enlarge the page file"}
}

func globalMemory() (memoryStatus, bool) {
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if call.Find() != nil {
		return s, false
	}
	ok, _, _ := call.Call(uintptr(unsafe.Pointer(&s)))
	return s, ok != 0
}
