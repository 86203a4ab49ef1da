//go:build darwin || macrules

package safetensors

import (
	"os"
)

// openDirect opens a file whose reads bypass the cache (F_NOCACHE).
func openDirect(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err == nil {
		var own error
		err = raw.Control(func(fd uintptr) { own = bypassCache(fd) })
		if err == nil {
			err = own
		}
	}
	if err != nil {
		_ = f.Close() // the first failure is the one to report
		return nil, err
	}
	return f, nil
}
