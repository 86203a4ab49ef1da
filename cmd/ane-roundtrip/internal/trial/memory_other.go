//go:build !linux

package trial

import "errors"

// unshared fails: this system does not report the memory of other processes.
func unshared(int, int) (int64, error) {
	return 0, errors.New("this system does not report the memory of other processes")
}
