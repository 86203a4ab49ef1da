package safetensors

import "golang.org/x/sys/unix"

// bypassCache has reads of a file bypass the cache.
func bypassCache(fd uintptr) error {
	_, err := unix.FcntlInt(fd, unix.F_NOCACHE, 1)
	return err
}
