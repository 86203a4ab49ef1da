// Package procmem measures the memory of processes.
package procmem

import "errors"

// ErrUnknown: the operating system does not tell. Only Linux tells what pages a process has mapped, and how much
// memory other processes have.
var ErrUnknown = errors.New("this system does not tell how much memory a process has, or what it has mapped")

// Pressure is a shortage of memory as the system states it. Linux and macOS state it in numbers of their own.
type Pressure struct {
	Stalled float64 // Linux: percent of the last ten seconds in which some task waited for memory; -1 for unknown
	Level   int     // macOS: kern.memorystatus_vm_pressure_level, 1 normal, 2 warning, 4 critical; 0 for unknown
}
