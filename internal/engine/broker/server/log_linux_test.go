//go:build !macrules

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
)

func init() {
	child["log"] = func() int {
		if err := logProcess(); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
}

// logProcess is a broker whose log is standard error and gets a line for each of thousands
// of refused clients, more than a pipe takes. It says on standard output when it has served
// one more.
func logProcess() error {
	signal.Ignore(unix.SIGPIPE)
	w := NewLogWriter(os.Stderr)
	log := slog.New(slog.NewTextHandler(w, nil))
	l, err := shared.Listen(os.Getenv(pathEnv))
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := newServer(Config{Stay: true, Log: log}.settled(admission.SharedPolicy()))
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- s.accept(context.Background(), l) }()
	for range 4000 {
		c, err := wiretest.Dial(l.Path())
		if err != nil {
			return err
		}
		p := newPeer(c)
		err = p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{})
		p.close()
		if err == nil {
			return errors.New("not refused")
		}
	}
	for range 4000 { // more than a pipe takes, whatever the rate of the log
		log.Warn("filler", "text", strings.Repeat("x", 1000), "number", w.dropped.Load())
	}
	c, err := wiretest.Dial(l.Path())
	if err != nil {
		return err
	}
	p := newPeer(c)
	defer p.close()
	if err := p.greet(""); err != nil {
		return err
	}
	p.close()
	err = errors.Join(l.Close(), <-done)
	s.disconnect()
	s.connections.Wait()
	err = errors.Join(err, s.close())
	w.Close(time.Millisecond)
	fmt.Println("served")
	return err
}

// TestLogNeverBlocks: a broker whose standard error is not read, or was closed by its
// reader, serves and ends.
func TestLogNeverBlocks(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprint("closed ", closed), func(t *testing.T) {
			var ends [2]int // in blocking mode, which os.Pipe does not give
			require.NoError(t, unix.Pipe2(ends[:], unix.O_CLOEXEC))
			r, w := os.NewFile(uintptr(ends[0]), "read"), os.NewFile(uintptr(ends[1]), "write")
			defer r.Close()
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), childEnv+"=log", pathEnv+"="+socket(t))
			cmd.Stderr = w
			var out bytes.Buffer
			cmd.Stdout = &out
			require.NoError(t, cmd.Start())
			require.NoError(t, w.Close())
			if closed {
				require.NoError(t, r.Close())
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				require.NoError(t, err, "%s", &out)
			case <-time.After(await.Patience):
				_ = cmd.Process.Kill()
				t.Fatalf("the broker hangs: %v, %s", <-ended, &out)
			}
			require.Contains(t, out.String(), "served")
		})
	}
}

// gate is a writer that blocks until the test opens it.
type gate struct {
	entered chan struct{}
	open    chan struct{}
	lines
}

func (g *gate) Write(b []byte) (int, error) {
	select {
	case g.entered <- struct{}{}:
	default:
	}
	<-g.open
	return g.lines.Write(b)
}

func TestLogWriterDropsAndCounts(t *testing.T) {
	g := &gate{entered: make(chan struct{}, 1), open: make(chan struct{})}
	w := NewLogWriter(g)
	_, err := w.Write([]byte("first\n"))
	require.NoError(t, err)
	<-g.entered // the goroutine holds the first line
	line := []byte("xxx\n")
	for range maxLogLines + 745 {
		n, err := w.Write(line)
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	require.EqualValues(t, 745, w.dropped.Load())
	w.Close(0) // it does not wait for a writer that hangs
	close(g.open)
	w.Close(await.Patience)
	text := g.String()
	require.True(t, strings.HasPrefix(text, "first\nlog lines dropped: 745\n"), "%.80s", text)
	require.Equal(t, maxLogLines, strings.Count(text, "xxx\n"))

	cut := &lines{}
	w = NewLogWriter(cut)
	_, _ = w.Write(bytes.Repeat([]byte("y"), maxLogLine+1))
	w.Close(await.Patience)
	require.Len(t, cut.String(), maxLogLine)
	require.True(t, strings.HasSuffix(cut.String(), "y...\n"))

	w = NewLogWriter(failing{})
	_, err = w.Write(line)
	require.NoError(t, err, "a log that fails is not its caller's matter")
	w.Close(await.Patience)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestLogNamesTheProcess that a line speaks of, also when it is refused.
func TestLogNamesTheProcess(t *testing.T) {
	text := &lines{}
	path := listen(t, Config{Stay: true, Log: slog.New(slog.NewTextHandler(text, nil))})
	c, err := wiretest.Dial(path)
	require.NoError(t, err)
	p := newPeer(c)
	defer p.close()
	require.Error(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, want := range []string{"client refused", fmt.Sprint("pid=", os.Getpid()), "executable=" + exe,
		fmt.Sprint("user=", os.Getuid())} {
		eventually(t, want, func() bool { return strings.Contains(text.String(), want) })
	}
}
