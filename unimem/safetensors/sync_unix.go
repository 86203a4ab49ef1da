//go:build unix

package safetensors

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder waits until the disk has the names of a folder. File systems that cannot do
// so for a folder return EINVAL.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
