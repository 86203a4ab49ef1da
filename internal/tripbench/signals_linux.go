//go:build !macrules

package tripbench

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// other marks the process that returns signals; there and back are its descriptors.
const (
	other = "ANEKIT_TRIPBENCH_OTHER"
	there = 3
	back  = 4
)

// signal is the value sent and returned; any other value ends the other process.
const signal = 1

// fact is the state of the process.
var fact struct {
	// served: main called ServeSignals. Without that call the other process would run main.
	served atomic.Bool
}

// ServeSignals returns signals, and then exits, in a process that newSignals started. In every
// other process it returns at once. Programs that call newSignals call it first in main or
// TestMain.
func ServeSignals() {
	if os.Getenv(other) == "" {
		fact.served.Store(true)
		return
	}
	runtime.LockOSThread()
	b := make([]byte, 8)
	for {
		if _, err := unix.Read(there, b); err != nil {
			os.Exit(1)
		}
		if binary.NativeEndian.Uint64(b) != signal {
			os.Exit(0)
		}
		if _, err := unix.Write(back, b); err != nil {
			os.Exit(1)
		}
	}
}

// signals is another process that returns signals through eventfds: the least that two
// processes need to wake each other.
type signals struct {
	cmd      *exec.Cmd
	ends     [2]*os.File
	out, in  int
	one, got []byte
}

// newSignals starts the other process: this program's executable, in which ServeSignals runs.
// The calling goroutine stays locked to its thread until it calls close, because the other
// process ends with that thread.
func newSignals() (*signals, error) {
	if !fact.served.Load() {
		return nil, errors.New("tripbench: call ServeSignals first in main or TestMain")
	}
	s := &signals{one: binary.NativeEndian.AppendUint64(nil, signal), got: make([]byte, 8)}
	for i := range s.ends {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			return nil, errors.Join(err, s.closeEnds())
		}
		s.ends[i] = os.NewFile(uintptr(fd), "eventfd")
	}
	s.out, s.in = int(s.ends[0].Fd()), int(s.ends[1].Fd())
	s.cmd = exec.Command("/proc/self/exe")
	s.cmd.Env = append(os.Environ(), other+"=1")
	s.cmd.ExtraFiles = s.ends[:]
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	if err := s.cmd.Start(); err != nil {
		runtime.UnlockOSThread()
		return nil, errors.Join(err, s.closeEnds())
	}
	return s, nil
}

// trip sends a signal and waits until it is returned.
func (s *signals) trip() error {
	if _, err := unix.Write(s.out, s.one); err != nil {
		return err
	}
	_, err := unix.Read(s.in, s.got)
	return err
}

// interrupt ends the current trip, or the next one, in place of the other process.
func (s *signals) interrupt() { _, _ = unix.Write(s.in, s.one) }

// close ends the process.
func (s *signals) close() error {
	defer runtime.UnlockOSThread()
	_, err := unix.Write(s.out, binary.NativeEndian.AppendUint64(nil, signal+1))
	return errors.Join(err, s.cmd.Wait(), s.closeEnds())
}

func (s *signals) closeEnds() error {
	var errs []error
	for _, f := range s.ends {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
