//go:build cgo && !ios && (amd64 || arm64)

package objcbridge

import "github.com/anekit/anekit/objcbridge/src"

// builtin returns the addresses of the bridge's functions, which are part of the binary.
func builtin() map[string]uintptr { return src.Addresses() }
