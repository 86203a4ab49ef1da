//go:build !macrules

package broker

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// ServeChild serves and exits in a process that Open started as a private broker. In every
// other process it returns at once.
func ServeChild() {
	if v, set := os.LookupEnv(childVariable); set {
		os.Exit(serveChild(v))
	}
	fact.served.Store(true)
}

// fact holds what is true of the whole process.
var fact struct {
	// served: main called ServeChild. Without that call a child would run main again.
	served atomic.Bool
}

// errNotServed explains why this program cannot start a private broker.
var errNotServed error = &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable,
	Detail: "a private broker is a second process of this program, whose main has not called engine.ServeChild",
	Hint: "call engine.ServeChild() first in main (in tests: in TestMain), or start `ane-roundtrip broker` " +
		"and pass its socket to engine.BrokerPath"}

// serveChild runs a private broker from start to end and returns its exit status.
func serveChild(socket string) int {
	config := configured(os.Getenv)
	for _, v := range variables() {
		if err := os.Unsetenv(v); err != nil {
			return complain(err)
		}
	}
	kind, err := unix.GetsockoptInt(childSocket, unix.SOL_SOCKET, unix.SO_TYPE)
	if socket != strconv.Itoa(childSocket) || err != nil || kind != unix.SOCK_SEQPACKET {
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
	if workers := server.Processors(); config.Workers == 0 {
		config.Workers = workers
	}
	if err := server.ServeConn(context.Background(), conn, config); err != nil {
		return complain(err)
	}
	return 0
}

// configured reads what command wrote.
func configured(getenv func(string) string) server.Config {
	c := server.Config{CacheDir: getenv(cacheVariable)}
	if n, err := strconv.Atoi(getenv(workVariable)); err == nil && n > 0 {
		c.Workers = n
	}
	return c
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "anekit-broker:", err)
	return 1
}

// closeInherited closes the descriptors that the client's process inherited without
// FD_CLOEXEC. Descriptors that this process opened itself have that flag.
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
			_ = unix.Close(fd) // a foreign descriptor: closed or never open, both will do
		}
	}
	return nil
}
