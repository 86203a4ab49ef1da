//go:build amd64 || arm64

package fpenv

// Get returns the control register of this thread.
func Get() uint32

// Set replaces the control register of this thread.
func Set(mode uint32)
