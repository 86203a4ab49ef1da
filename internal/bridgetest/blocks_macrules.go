//go:build macrules && linux && cgo && (amd64 || arm64)

package bridgetest

import (
	"os"

	"github.com/anekit/anekit/internal/bridgedir"
)

// ForBlocks has Blocks of this process and its children find the stand-in for IOSurface, which it builds if
// necessary. Where it cannot be built, opening a Block says why.
func ForBlocks() error {
	dir, err := Folder()
	if err != nil {
		return nil
	}
	return os.Setenv(bridgedir.Env, dir)
}
