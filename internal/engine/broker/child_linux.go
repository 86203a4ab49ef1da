//go:build !macrules

package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

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
func serveChild(given string) int {
	workers, wrong := strconv.Atoi(given)
	kind, err := unix.GetsockoptInt(childSocket, unix.SOL_SOCKET, unix.SO_TYPE)
	if wrong != nil || err != nil || kind != unix.SOCK_SEQPACKET {
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
		if err != nil || fd <= childSocket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd) // a foreign descriptor: closed or never open, both will do
		}
	}
	return nil
}

// childVariable has a private broker know that it is one. It is the Options.Workers.
const childVariable = "ANEKIT_BROKER_CHILD"

// childSocket is the descriptor of a private broker's socket: the first after
// the standard ones.
const childSocket = 3

// child is the process of a private broker. It ends with this one.
type child struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed once it has ended and is reaped
}

// startChild runs this program's own executable as a broker and returns our
// end of its socket. When ctx ends first, a process that starts nevertheless
// finds its socket closed and ends.
func startChild(ctx context.Context, o Options) (*child, int, error) {
	if !fact.served.Load() {
		return nil, -1, errNotServed
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket of the broker")
	c := &child{cmd: command(theirs, o), gone: make(chan struct{})}
	_, err = outlast(ctx, func() (none, error) {
		err := errors.Join(c.cmd.Start(), theirs.Close())
		go c.reap()
		return none{}, err
	}, nil)
	if err != nil {
		return nil, -1, errors.Join(settled(err), unix.Close(pair[0]))
	}
	return c, pair[0], nil
}

// command is the broker's command line. It has no terminal, so that keys which
// end or stop the client do not reach it before the client had its say.
func command(socket *os.File, o Options) *exec.Cmd {
	env := append(os.Environ(), fmt.Sprint(childVariable, "=", o.Workers)) // the last one counts
	c := &exec.Cmd{
		Path:        "/proc/self/exe", // this executable, even when its file was replaced
		Args:        []string{"anekit-broker"},
		Env:         env,
		Dir:         "/", // no folder of the client's is kept busy
		ExtraFiles:  []*os.File{socket},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if _, err := os.Stderr.Stat(); err == nil { // what a panic prints goes where ours would
		c.Stderr = os.Stderr
	}
	return c
}

// reap waits for the end of the process.
func (c *child) reap() {
	if c.cmd.Process != nil {
		_ = c.cmd.Wait() // how it ended does not matter: the socket tells that it has
	}
	close(c.gone)
}

// killTime is what a killed process has to end. Only one inside the kernel, for
// instance in a write to a disk that hangs, takes longer than milliseconds.
const killTime = 5 * time.Second

// stop waits for a broker whose socket was closed to end by itself, and kills it
// after patience, frozen or not. It is reaped when stop returns nil.
func (c *child) stop(patience time.Duration) error {
	if c == nil {
		return nil
	}
	select {
	case <-c.gone:
		return nil
	case <-time.After(patience):
	}
	_ = c.cmd.Process.Kill() // fails only for one that has ended
	select {
	case <-c.gone:
		return nil
	case <-time.After(killTime):
		return errors.New("the broker's process does not end although it was killed")
	}
}
