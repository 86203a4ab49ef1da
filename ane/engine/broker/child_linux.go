//go:build !macrules

package broker

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// ServeChild lets this program start private brokers: engine.Open of Broker without a path runs the program's
// executable again. In that second process ServeChild serves the client and exits; in every other process it returns at
// once. Call it first in main, and in TestMain of tests that open a private broker:
//
//	func main() {
//		broker.ServeChild()
//		...
//	}
//
// Package initialization runs before main, also in the broker's process. Programs that never open a private broker need
// not call it. Private brokers need Linux.
func ServeChild() {
	if workers, is := broker.Child(); is {
		os.Exit(serve(workers))
	}
}

// serve runs a private broker from start to end and returns its exit status.
func serve(given string) int {
	workers, wrong := strconv.Atoi(given)
	kind, err := unix.GetsockoptInt(broker.ChildSocket, unix.SOL_SOCKET, unix.SO_TYPE)
	if wrong != nil || err != nil || kind != unix.SOCK_SEQPACKET {
		return complain(fmt.Errorf("%s is for processes that anekit starts itself: unset it", broker.ChildVariable))
	}
	if err := os.Unsetenv(broker.ChildVariable); err != nil {
		return complain(err)
	}
	unix.CloseOnExec(broker.ChildSocket)
	if err := closeInherited(); err != nil {
		return complain(err)
	}
	conn, err := wire.NewConn(broker.ChildSocket)
	if err != nil {
		return complain(err)
	}
	c := server.Config{Workers: cmp.Or(workers, server.Processors())}
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
		if err != nil || fd <= broker.ChildSocket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd) // a foreign descriptor: closed or never open, both will do
		}
	}
	return nil
}
