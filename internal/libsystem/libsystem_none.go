//go:build !((darwin || (macrules && linux && cgo)) && (amd64 || arm64))

package libsystem

// Footprint returns ErrUnsupported.
func Footprint() (int64, error) { return 0, ErrUnsupported }

// UserTempDir returns ErrUnsupported.
func UserTempDir() (string, error) { return "", ErrUnsupported }

// SysctlString returns ErrUnsupported.
func SysctlString(string) (string, error) { return "", ErrUnsupported }

// SysctlUint64 returns ErrUnsupported.
func SysctlUint64(string) (uint64, error) { return 0, ErrUnsupported }

// Mincore returns ErrUnsupported.
func Mincore(uintptr, int) ([]byte, error) { return nil, ErrUnsupported }

// Remap returns ErrUnsupported.
func Remap(_, _ uintptr, _ int) error { return ErrUnsupported }

// MapAgain returns ErrUnsupported.
func MapAgain(uintptr, int) (uintptr, error) { return 0, ErrUnsupported }

// Deallocate returns ErrUnsupported.
func Deallocate(uintptr, int) error { return ErrUnsupported }
