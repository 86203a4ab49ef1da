package broker

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// In a process that was started to be a private broker, nothing of the program
// behind this package's imports runs.
func init() {
	if v, set := os.LookupEnv(childVariable); set {
		os.Exit(child(v))
	}
}

// child is the whole life of a private broker. It returns the exit status.
func child(socket string) int {
	cache := os.Getenv(cacheVariable)
	for _, v := range []string{childVariable, cacheVariable} {
		if err := os.Unsetenv(v); err != nil {
			return complain(err)
		}
	}
	if kind, err := unix.GetsockoptInt(childSocket, unix.SOL_SOCKET, unix.SO_TYPE); socket != strconv.Itoa(childSocket) || err != nil || kind != unix.SOCK_SEQPACKET {
		return complain(fmt.Errorf("%s is for processes that anekit starts itself: unset it", childVariable))
	}
	unix.CloseOnExec(childSocket)
	if err := closeInherited(); err != nil {
		return complain(err)
	}
	conn, err := wire.NewConn(childSocket)
	if err != nil {
		return complain(err)
	}
	if err := server.ServeConn(context.Background(), conn, server.Config{CacheDir: cache}); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "anekit-broker:", err)
	return 1
}

// closeInherited closes the descriptors that the client's process was given by
// others without a mark to close them. Those that this process opened itself
// since it runs have the mark.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= childSocket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd) // it was somebody else's, and is gone either way
		}
	}
	return nil
}
