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

// trips starts another process, this program's executable, in which ServeSignals runs, and exchanges signals with it
// through eventfds: the least that two processes need to wake each other. The calling goroutine stays locked to its
// thread until it calls done, because the other process ends with that thread.
func trips(ctx context.Context) (l measure.Loop, done func() error, err error) {
	if os.Getenv(other) != "" {
		return nil, nil, errors.New("tripbench: call ServeSignals first in main or TestMain")
	}
	var ends []*os.File
	closeEnds := func() (err error) {
		for _, f := range ends {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	for range 2 {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			return nil, nil, errors.Join(err, closeEnds())
		}
		ends = append(ends, os.NewFile(uintptr(fd), "eventfd"))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), other+"=1"), ends
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	if err := cmd.Start(); err != nil {
		runtime.UnlockOSThread()
		return nil, nil, errors.Join(err, closeEnds())
	}
	out, in := int(ends[0].Fd()), int(ends[1].Fd())
	one, got := binary.NativeEndian.AppendUint64(nil, signal), make([]byte, 8)
	// If the other process dies, a waiting trip ends with ctx.
	stop := context.AfterFunc(ctx, func() { _, _ = unix.Write(in, one) })
	l = measure.Repeat(func() error {
		if _, err := unix.Write(out, one); err != nil {
			return err
		}
		_, err := unix.Read(in, got)
		return err
	})
	return l, func() error {
		defer runtime.UnlockOSThread()
		stop()
		_, err := unix.Write(out, binary.NativeEndian.AppendUint64(nil, signal+1))
		return errors.Join(err, cmd.Wait(), closeEnds())
	}, nil
}
