//go:build !macrules

package broker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Variables by which a private broker knows that it is one.
const (
	childVariable = "ANEKIT_BROKER_CHILD"   // number of its socket
	cacheVariable = "ANEKIT_BROKER_CACHE"   // folder of its compile cache
	workVariable  = "ANEKIT_BROKER_WORKERS" // bound of the threads that share an operation
)

// variables lists them.
func variables() []string { return []string{childVariable, cacheVariable, workVariable} }

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
	p := &child{cmd: command(theirs, o), gone: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(theirs, started)
	select {
	case err = <-started:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, -1, errors.Join(err, unix.Close(pair[0]))
	}
	return p, pair[0], nil
}

// command is the broker's command line. It has no terminal, so that keys which
// end or stop the client do not reach it before the client had its say.
func command(socket *os.File, o Options) *exec.Cmd {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(variables(), name)
	})
	env = append(env, childVariable+"=3")
	if o.CacheDir != "" {
		env = append(env, cacheVariable+"="+o.CacheDir)
	}
	if o.Workers > 0 {
		env = append(env, workVariable+"="+strconv.Itoa(o.Workers))
	}
	c := &exec.Cmd{
		Path:        "/proc/self/exe", // this executable, even when its file was replaced
		Args:        []string{"anekit-broker"},
		Env:         env,
		Dir:         "/", // no folder of the client's is kept busy
		ExtraFiles:  []*os.File{socket},
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true},
	}
	if _, err := os.Stderr.Stat(); err == nil { // what a panic prints goes where ours would
		c.Stderr = os.Stderr
	}
	return c
}

// run starts the process and reaps it. The kernel takes the end of the thread
// that started a process for the end of its parent, so this one stays.
func (p *child) run(socket *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.gone)
	err := errors.Join(p.cmd.Start(), socket.Close())
	started <- err
	if p.cmd.Process != nil {
		_ = p.cmd.Wait() // how it ended does not matter: the socket tells that it has
	}
}

// stop waits for a broker whose socket was closed to end by itself, and kills it
// after patience, frozen or not. It is reaped when end returns nil.
func (p *child) stop(patience time.Duration) error {
	if p == nil {
		return nil
	}
	if p.ended(patience) {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if !p.ended(killTime) {
		return errors.New("the broker's process does not end although it was killed")
	}
	return nil
}

// killTime is what a killed process has to end. Only one inside the kernel, for
// instance in a write to a disk that hangs, takes longer than milliseconds.
const killTime = 5 * time.Second

func (p *child) ended(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.gone:
		return true
	case <-t.C:
		return false
	}
}
