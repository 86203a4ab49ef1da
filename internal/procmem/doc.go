// Package procmem measures the memory of processes.
package procmem

import "errors"

// ErrUnknown: the operating system does not tell. Only Linux tells what pages a process has mapped, and how much
// memory other processes have.
var ErrUnknown = errors.New("this system does not tell how much memory a process has, or what it has mapped")
