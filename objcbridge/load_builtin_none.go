//go:build !(darwin && cgo && !ios && (amd64 || arm64))

package objcbridge

// builtin returns nil: this binary does not contain the bridge.
func builtin() map[string]uintptr { return nil }
