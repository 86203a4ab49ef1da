//go:build !macrules

package broker

import (
	"cmp"
	"context"
	"encoding/json"
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
func serveChild(config string) int {
	var given childConfig
	kind, err := unix.GetsockoptInt(childSocket, unix.SOL_SOCKET, unix.SO_TYPE)
	if json.Unmarshal([]byte(config), &given) != nil || err != nil || kind != unix.SOCK_SEQPACKET {
		return complain(fmt.Errorf("%s is for processes that anekit starts itself: unset it", childVariable))
	}
	if err := os.Unsetenv(childVariable); err != nil {
		return complain(err)
	}
	unix.CloseOnExec(childSocket)
	if err := closeInherited(); err != nil {
		return complain(err)
	}
	conn, err := wire.NewConn(childSocket)
	if err != nil {
		return complain(err)
	}
	c := server.Config{CacheDir: given.CacheDir, Workers: cmp.Or(given.Workers, server.Processors())}
	if err := server.ServeConn(context.Background(), conn, c); err != nil {
		return complain(err)
	}
	return 0
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
