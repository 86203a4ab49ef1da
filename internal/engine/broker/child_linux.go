//go:build !macrules

package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// Child returns what a private broker was given, and whether this process is to be one. In every other process it
// notes that main has asked: Open may start this program again.
func Child() (workers string, is bool) {
	workers, is = os.LookupEnv(ChildVariable)
	fact.served.Store(!is)
	return
}

// fact holds what is true of the whole process.
var fact struct {
	// served: main called Child. Without that call a child would run main again.
	served atomic.Bool
}

// errNotServed explains why this program cannot start a private broker.
var errNotServed error = &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable,
	Detail: "a private broker is a second process of this program, whose main has not called broker.ServeChild",
	Hint: "call broker.ServeChild() of ane/engine/broker first in main (in tests: in TestMain), " +
		"or start `ane-roundtrip broker` and pass its socket to engine.BrokerPath"}

// ChildVariable has a private broker know that it is one. It is the Options.Workers.
const ChildVariable = "ANEKIT_BROKER_CHILD"

// ChildSocket is the descriptor of a private broker's socket: the first after
// the standard ones.
const ChildSocket = 3

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
	env := append(os.Environ(), fmt.Sprint(ChildVariable, "=", o.Workers)) // the last one counts
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
