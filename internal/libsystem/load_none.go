//go:build !((darwin || (macrules && linux && cgo)) && (amd64 || arm64))

package libsystem

// load returns ErrUnsupported: this build has no libSystem.
func load() (*functions, error) { return nil, ErrUnsupported }

func call(uintptr, ...uintptr) (result uintptr, errno int64) { return 0, 0 }
