//go:build !linux && !darwin && !windows

package unimem

func machineMemory() uint64 { return fallbackMemory }
