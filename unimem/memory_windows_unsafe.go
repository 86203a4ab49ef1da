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
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if call.Find() != nil {
		return fallbackMemory
	}
	if ok, _, _ := call.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return fallbackMemory
	}
	return s.totalPageFile
}
