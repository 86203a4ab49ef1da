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

// ServeSignals returns signals, and then exits, in a process that NewSignals started. In every
// other process it returns at once. Programs that call NewSignals call it first in main or
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

// Signals is another process that returns signals through eventfds: the least that two
// processes need to wake each other.
type Signals struct {
	cmd      *exec.Cmd
	ends     [2]*os.File
	out, in  int
	one, got []byte
}

// NewSignals starts the other process: this program's executable, in which ServeSignals runs.
// The calling goroutine stays locked to its thread until it calls Close, because the other
// process ends with that thread.
func NewSignals() (*Signals, error) {
	if !fact.served.Load() {
		return nil, errors.New("tripbench: call ServeSignals first in main or TestMain")
	}
	s := &Signals{one: binary.NativeEndian.AppendUint64(nil, signal), got: make([]byte, 8)}
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

// Trip sends a signal and waits until it is returned.
func (s *Signals) Trip() error {
	if _, err := unix.Write(s.out, s.one); err != nil {
		return err
	}
	_, err := unix.Read(s.in, s.got)
	return err
}

// interrupt ends the current Trip, or the next one, in place of the other process.
func (s *Signals) interrupt() { _, _ = unix.Write(s.in, s.one) }

// Close ends the process.
func (s *Signals) Close() error {
	defer runtime.UnlockOSThread()
	_, err := unix.Write(s.out, binary.NativeEndian.AppendUint64(nil, signal+1))
	return errors.Join(err, s.cmd.Wait(), s.closeEnds())
}

func (s *Signals) closeEnds() error {
	var errs []error
	for _, f := range s.ends {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
