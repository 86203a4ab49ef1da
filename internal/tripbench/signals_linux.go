//go:build !macrules

package tripbench

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
)

// other marks the process that returns signals; there and back are its descriptors.
const (
	other = "ANEKIT_TRIPBENCH_OTHER"
	there = 3
	back  = 4
)

// signal is the value sent and returned; any other value ends the other process.
const signal = 1

// ServeSignals returns signals, and then exits, in a process that Cases started. In every other process it returns at
// once. Programs that measure Cases call it first in main or TestMain.
func ServeSignals() {
	if os.Getenv(other) == "" {
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

// trips starts this program's executable as another process, which runs ServeSignals. They exchange signals through
// eventfds: the least that two processes need to wake each other. The calling goroutine stays locked to its thread
// until the step ends, because the other process ends with that thread.
func trips(t *step.T) measure.Loop {
	if os.Getenv(other) != "" {
		step.NoError(errors.New("tripbench: call ServeSignals first in main or TestMain"))
	}
	var ends []*os.File
	for range 2 {
		fd := step.Must(unix.Eventfd(0, unix.EFD_CLOEXEC))
		ends = append(ends, os.NewFile(uintptr(fd), "eventfd"))
		t.Closing(ends[len(ends)-1].Close)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), other+"=1"), ends
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	t.Closing(func() error { runtime.UnlockOSThread(); return nil })
	step.NoError(cmd.Start())
	out, in := int(ends[0].Fd()), int(ends[1].Fd())
	one, got := binary.NativeEndian.AppendUint64(nil, signal), make([]byte, 8)
	// If the other process dies, a waiting trip ends with the context.
	stop := context.AfterFunc(t.Ctx, func() { _, _ = unix.Write(in, one) })
	t.Closing(func() error {
		stop()
		_, err := unix.Write(out, binary.NativeEndian.AppendUint64(nil, signal+1))
		return errors.Join(err, cmd.Wait())
	})
	return measure.Repeat(func() error {
		if _, err := unix.Write(out, one); err != nil {
			return err
		}
		_, err := unix.Read(in, got)
		return err
	})
}
