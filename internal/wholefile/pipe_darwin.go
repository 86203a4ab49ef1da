package wholefile

import (
	"os"
	"syscall"
)

// waiting makes writes to a pipe wait for room. Package os does not watch pipes
// through kqueue, so without this a full pipe would be an error.
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
		_ = f.Close() // the first error says more
		return nil, err
	}
	return f, nil
}
