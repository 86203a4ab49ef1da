package tripbench

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// other marks the process that answers signals; there and back are its descriptors.
const (
	other = "ANEKIT_TRIPBENCH_OTHER"
	there = 3
	back  = 4
)

// A program that imports the package is its own other process.
func init() {
	if os.Getenv(other) == "" {
		return
	}
	runtime.LockOSThread()
	var b [8]byte
	for {
		if _, err := unix.Read(there, b[:]); err != nil {
			os.Exit(1)
		}
		if _, err := unix.Write(back, b[:]); err != nil {
			os.Exit(1)
		}
	}
}

// signals times a signal to another process and back, n times, and returns the
// median.
func signals(ctx context.Context, n int) (p50 time.Duration, err error) {
	var ends [2]*os.File
	for i := range ends {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			return 0, err
		}
		ends[i] = os.NewFile(uintptr(fd), "eventfd")
		defer ends[i].Close()
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), other+"=1")
	cmd.ExtraFiles = ends[:]
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the death signal follows the thread that started the process
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// Should the other process die, this answers in its place, so that nobody waits
	// for ever.
	died := context.AfterFunc(ctx, func() { _, _ = unix.Write(int(ends[1].Fd()), []byte{1, 0, 0, 0, 0, 0, 0, 0}) })
	defer died()
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
	}()
	out, in := int(ends[0].Fd()), int(ends[1].Fd())
	one := [8]byte{1}
	p50, _, err = timed(ctx, func() error {
		if _, err := unix.Write(out, one[:]); err != nil {
			return err
		}
		var b [8]byte
		_, err := unix.Read(in, b[:])
		return err
	})
	return p50, err
}
