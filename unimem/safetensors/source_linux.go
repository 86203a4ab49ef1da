//go:build !macrules

package safetensors

import (
	"os"
	"syscall"
)

// openDirect opens a file with O_DIRECT, which some file systems refuse.
func openDirect(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECT, 0)
}
