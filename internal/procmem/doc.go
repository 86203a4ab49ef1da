// Package procmem measures the memory of processes.
package procmem
