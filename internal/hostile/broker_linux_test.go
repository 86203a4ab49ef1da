//go:build !macrules

package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
)

// broker is a shared broker in a child process.
type broker struct {
	t      *testing.T
	cmd    *exec.Cmd
	path   string
	cache  string
	in     io.WriteCloser
	lines  chan string // of standard output; closed with it
	ended  chan error
	stderr []*os.File // ends of its pipe
}

// Kinds of standard error.
const (
	discarded = iota // /dev/null
	closedEnd        // a pipe without a reader
	unreadEnd        // a pipe that no process reads
	fullEnd          // a pipe that is full already
	absentEnd        // no descriptor 2
	stderrs
)

var stderrNames = [stderrs]string{"discarded", "without a reader", "unread", "full", "absent"}

// startBroker starts one in a folder, where another one may have been.
func startBroker(t *testing.T, dir string, stderr int) *broker {
	t.Helper()
	b := &broker{t: t, path: filepath.Join(dir, "run", "broker.sock"), cache: filepath.Join(dir, "cache"),
		lines: make(chan string, 16), ended: make(chan error, 1)}
	b.cmd = exec.Command("/proc/self/exe")
	if stderr == absentEnd {
		b.cmd = exec.Command("/bin/sh", "-c", `exec "$0" 2>&-`, os.Args[0])
	}
	b.cmd.Env = append(os.Environ(), socketEnv+"="+b.path, cacheEnv+"="+b.cache)
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if stderr != discarded && stderr != absentEnd {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		b.cmd.Stderr = w
		b.stderr = []*os.File{r, w}
		if stderr == fullEnd {
			fill(t, w)
		}
	}
	in, err := b.cmd.StdinPipe()
	require.NoError(t, err)
	b.in = in
	out, err := b.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, b.cmd.Start())
	t.Cleanup(func() {
		if b.lives() { // the test has failed
			_ = b.cmd.Process.Kill()
			_ = b.wait()
		}
	})
	if len(b.stderr) > 0 {
		require.NoError(t, b.stderr[1].Close())
		if stderr == closedEnd {
			require.NoError(t, b.stderr[0].Close())
		}
	}
	go func() {
		s := bufio.NewScanner(out)
		for s.Scan() {
			b.lines <- s.Text()
		}
		close(b.lines)
		b.ended <- b.cmd.Wait()
	}()
	require.Equal(t, "serving", await.Value(t, b.lines))
	return b
}

// fill fills a pipe.
func fill(t *testing.T, w *os.File) {
	raw, err := w.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Write(func(fd uintptr) bool {
		for {
			if _, err := unix.Write(int(fd), make([]byte, 4096)); err != nil {
				return true
			}
		}
	}))
}

// count asks the broker's process what it has open; false if it has ended.
func (b *broker) count() (c counts, ok bool) {
	b.t.Helper()
	if _, err := fmt.Fprintln(b.in, "count"); err != nil {
		return c, false
	}
	line := await.Value(b.t, b.lines)
	return c, json.Unmarshal([]byte(line), &c) == nil
}

// signal sends a signal to the process.
func (b *broker) signal(s unix.Signal) { require.NoError(b.t, b.cmd.Process.Signal(s)) }

// lives reports whether the process has not ended.
func (b *broker) lives() bool {
	select {
	case err := <-b.ended:
		b.ended <- err
		return false
	default:
		return true
	}
}

// wait waits for the end of the process and returns how it ended.
func (b *broker) wait() error {
	b.t.Helper()
	err := await.Value(b.t, b.ended)
	b.ended <- err
	_ = b.in.Close()
	for _, f := range b.stderr {
		_ = f.Close()
	}
	return err
}
