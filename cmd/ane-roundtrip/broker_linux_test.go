//go:build !macrules

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

// served is a shared broker in a process of its own.
type served struct {
	*exec.Cmd
	path string
	done chan error
	mu   sync.Mutex
	said bytes.Buffer // on standard error
}

// serve starts `ane-roundtrip broker` with more arguments, by a command line before it if that is given.
func serve(t *testing.T, before []string, args ...string) *served {
	t.Helper()
	leaktest.SkipEmulated(t)
	dir := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(dir, 0o700))
	s := &served{path: filepath.Join(dir, "socket"), done: make(chan error, 1)}
	name := filepath.Join(dir, "ane-roundtrip") // by its name the test's binary is the command
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, name))
	line := append(append([]string{}, before...), name, "broker", "--stay")
	line = append(line, args...)
	for i := range line {
		line[i] = strings.ReplaceAll(line[i], "SOCKET", s.path)
	}
	if before == nil {
		line = append(line, "--socket", s.path)
	}
	s.Cmd = exec.Command(line[0], line[1:]...)
	out, err := s.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(func() { _ = s.Process.Kill() })
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.mu.Lock()
			fmt.Fprintln(&s.said, lines.Text())
			s.mu.Unlock()
		}
		s.done <- s.Wait()
	}()
	return s
}

// log is what the broker has written to standard error.
func (s *served) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// stats asks for a counter; 0 while no broker answers.
func (s *served) stats(name string) uint64 {
	named, _ := broker.Statistics(context.Background(), s.path)
	return named[name]
}

// code waits for the end of the process.
func (s *served) code(t *testing.T) int {
	t.Helper()
	_ = await.Value(t, s.done)
	return s.ProcessState.ExitCode()
}

// device opens the broker, as soon as it serves.
func (s *served) device(t *testing.T) *ane.Device {
	t.Helper()
	var d *ane.Device
	await.Until(t, "it serves", func() (ok bool) {
		var err error
		d, err = engine.Open(t.Context(), engine.Broker, engine.BrokerPath(s.path))
		return err == nil
	})
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// hog evaluates a program of so many steps of some milliseconds, and returns when it runs. The channel has its end.
func (s *served) hog(t *testing.T, steps int) <-chan error {
	t.Helper()
	d := s.device(t)
	var text strings.Builder
	text.WriteString("program(1.3)\n{\n    func main<ios18>(tensor<fp32, [1, 1, 512, 512]> x) {\n")
	last := "x"
	for i := range steps {
		next := fmt.Sprintf("y%d", i)
		fmt.Fprintf(&text, "        tensor<fp32, [1, 1, 512, 512]> %s = matmul(x = %s, y = x, transpose_x = "+
			"bool(false), "+
			"transpose_y = bool(false))[name = string(%q)];\n", next, last, next)
		last = next
	}
	fmt.Fprintf(&text, "    } -> (%s);\n}\n", last)
	m, err := d.Compile(t.Context(), ane.Source{Text: []byte(text.String())})
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = r.Close()
		_ = m.Close(context.Background()) // the broker has gone
	})
	end := make(chan error, 1)
	go func() {
		_, err := r.Evaluate(context.Background())
		end <- err
	}()
	await.Until(t, "it runs", func() bool { return s.stats("requests running") == 1 })
	return end
}

// TestBrokerSignals: the exit status tells whether calls were cut; a second signal ends the wait for them.
func TestBrokerSignals(t *testing.T) {
	idle := serve(t, nil)
	idle.device(t)
	require.NoError(t, idle.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodePass, idle.code(t), idle.log())
	require.NoFileExists(t, idle.path)

	if !signal.Ignored(unix.SIGHUP) { // as by nohup
		hung := serve(t, nil)
		hung.device(t)
		require.NoError(t, hung.Process.Signal(unix.SIGHUP))
		require.Equal(t, cli.CodePass, hung.code(t), hung.log())
	}

	busy := serve(t, nil)
	drained := busy.hog(t, 100)
	require.NoError(t, busy.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodePass, busy.code(t), busy.log())
	require.NoError(t, await.Value(t, drained), "its last answer is read, though the broker has gone")

	if !effort.Full() {
		return // the rest computes until signals come
	}
	late := serve(t, nil, "--drain", "1ms")
	end := late.hog(t, 1000)
	require.NoError(t, late.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodeCut, late.code(t), late.log())
	require.Contains(t, late.log(), "ane-roundtrip: ")
	// The last look at the counters is in flight until its end is noted, and so is the evaluation's reader.
	require.Regexp(t, "[1-3] in flight after 1ms", late.log())
	require.ErrorIs(t, await.Value(t, end), ane.ErrLost)

	soon := serve(t, nil, "--drain", "0s")
	end = soon.hog(t, 1000)
	require.NoError(t, soon.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodeCut, soon.code(t), soon.log())
	require.ErrorIs(t, await.Value(t, end), ane.ErrLost)

	for _, signals := range [][2]unix.Signal{{unix.SIGTERM, unix.SIGINT}, {unix.SIGHUP, unix.SIGTERM},
		{unix.SIGHUP, unix.SIGHUP}} {
		if signals[0] == unix.SIGHUP && signal.Ignored(unix.SIGHUP) {
			continue
		}
		twice := serve(t, nil, "--drain", "1h")
		end = twice.hog(t, 1000)
		require.NoError(t, twice.Process.Signal(signals[0]))
		await.Until(t, "it drains", func() bool {
			_, err := os.Lstat(twice.path)
			return os.IsNotExist(err)
		})
		require.NoError(t, twice.Process.Signal(signals[1]))
		require.Equal(t, cli.CodeCut, twice.code(t), twice.log())
		require.Contains(t, twice.log(), "at the second signal")
		require.ErrorIs(t, await.Value(t, end), ane.ErrLost)
	}
}

// TestBrokerCounters: broker stats prints each counter of a broker, unless it is about the connection that asks.
func TestBrokerCounters(t *testing.T) {
	s := serve(t, nil)
	s.device(t)
	named, err := broker.Statistics(t.Context(), s.path)
	require.NoError(t, err)
	var out, said bytes.Buffer
	require.Equal(t, cli.CodePass, start([]string{"broker", "stats", "--socket", s.path, "--json"}, &out, &said), "%s",
		&said)
	var report struct {
		Details struct{ Counters []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &report))
	shown := map[string]bool{}
	for _, c := range report.Details.Counters {
		shown[c.Name] = true
	}
	elsewhere := regexp.MustCompile(`^(own|level) |^refused for want of |` +
		`^(clients|mappings|descriptors|bytes of memory)( allowed| refused)?$`)
	for name := range named {
		require.True(t, shown[name] || elsewhere.MatchString(name), name)
	}
	for _, name := range []string{"surfaces", "programs", "requests"} {
		require.True(t, shown[name+" allowed per client"], name)
	}
	require.NoError(t, s.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodePass, s.code(t), s.log())
}

// TestBrokerIsActivated: the command serves the socket that systemd passes, and refuses --socket beside it.
func TestBrokerIsActivated(t *testing.T) {
	leaktest.SkipEmulated(t)
	tool, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is not installed")
	}
	s := serve(t, []string{tool, "--seqpacket", "--listen=SOCKET"})
	d := s.device(t)
	require.NoError(t, d.Close())
	require.NoError(t, s.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodePass, s.code(t), s.log())
	require.Contains(t, s.log(), "serving on "+s.path)
	require.FileExists(t, s.path, "systemd's file")

	both := serve(t, []string{tool, "--seqpacket", "--listen=SOCKET"}, "--socket", "/nonexistent/socket")
	await.Until(t, "it ends", func() bool {
		_, _ = broker.Statistics(t.Context(), both.path) // a connection has it started
		return len(both.done) > 0
	})
	require.Equal(t, cli.CodeUsage, both.code(t), both.log())
	require.Contains(t, both.log(), "leave it out")
}

// TestBrokerWithFewDescriptors: where the system permits few, there are few places, each of which a client can use.
func TestBrokerWithFewDescriptors(t *testing.T) {
	s := serve(t, []string{"sh", "-c", `ulimit -n 64; exec "$@"`, "sh"}, "--socket", "SOCKET")
	d := s.device(t)
	require.EqualValues(t, 4, s.stats("clients allowed"))
	for range 3 {
		s.device(t)
	}
	_, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath(s.path))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "limit of 4 clients")
	m, err := d.Compile(t.Context(), ane.Source{Text: []byte(reluProgram)})
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, s.Process.Signal(unix.SIGTERM))
	require.Equal(t, cli.CodePass, s.code(t), s.log())
}

// TestUnitFiles: systemd-analyze finds no fault in the units.
func TestUnitFiles(t *testing.T) {
	leaktest.SkipEmulated(t)
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"anekit-broker.socket", "anekit-broker.service"} {
		text, err := os.ReadFile("../../contrib/systemd/" + name)
		require.NoError(t, err)
		if strings.HasSuffix(name, ".service") {
			const command = "/usr/local/bin/ane-roundtrip "
			require.Contains(t, string(text), "ExecStart="+command+"broker")
			text = []byte(strings.ReplaceAll(string(text), command, self+" ")) // verify looks for it
		}
		units = append(units, filepath.Join(dir, name))
		require.NoError(t, os.WriteFile(units[len(units)-1], text, 0o600))
	}
	cmd := exec.Command(tool, append([]string{"--user", "--man=no", "verify"}, units...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "anekit-broker", "%s", out)
}

// TestStatsOfASilentSocket: a socket that takes connections and answers nothing is as good as none, and is named.
func TestStatsOfASilentSocket(t *testing.T) {
	t.Setenv("COLUMNS", "")
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	defer l.Close()
	var out, said bytes.Buffer
	line := []string{"broker", "stats", "--socket", path, "--timeout", "10ms"}
	require.Equal(t, cli.CodeUnavailable, start(line, &out, &said))
	require.Empty(t, out.String())
	require.Contains(t, said.String(), path)
	require.Contains(t, said.String(), "did not answer within 10ms")
}
