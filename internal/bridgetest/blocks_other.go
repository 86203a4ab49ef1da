//go:build !(macrules && linux && cgo && (amd64 || arm64))

package bridgetest

// ForBlocks does nothing: the Blocks of this build need no stand-in.
func ForBlocks() error { return nil }
