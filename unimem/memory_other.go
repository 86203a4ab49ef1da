//go:build !linux && !darwin && !windows

package unimem

// memoryOf describes machineMemory in messages.
const memoryOf = "the amount of memory of this system is unknown"

func machineMemory() uint64 { return fallbackMemory }

// systemRoom knows no limit of this system.
func systemRoom(int) room { return unlimited() }
