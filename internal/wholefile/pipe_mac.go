//go:build darwin || macrules

package wholefile

import (
	"os"
	"syscall"
)

// waiting makes writes to a full pipe wait. Package os does not use kqueue for pipes, so
// without this a write to a full pipe would be an error.
func waiting(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err == nil {
		var set error
		err = raw.Control(func(fd uintptr) { set = syscall.SetNonblock(int(fd), false) })
		if err == nil {
			err = set
		}
	}
	if err != nil {
		_ = f.Close() // the first failure is the one to report
		return nil, err
	}
	return f, nil
}
