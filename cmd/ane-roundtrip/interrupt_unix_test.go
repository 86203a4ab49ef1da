//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
)

const reluProgram = `program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
        tensor<fp16, [4]> y = relu(x = x)[name = string("y")];
    } -> (y);
}
`

// pipe makes a named pipe.
func pipe(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	return path
}

// requireInterrupted checks the JSON object of an interrupted command.
func requireInterrupted(t *testing.T, object []byte) {
	t.Helper()
	var r cli.Report
	require.NoError(t, json.Unmarshal(object, &r), "%s", object)
	require.Equal(t, &cli.Failure{Message: "interrupted", Code: cli.CodeInterrupted}, r.Error)
}

// A command that waits for a writer or for data of a pipe returns when it is interrupted.
func TestInterruptEndsTheWaitForInput(t *testing.T) {
	program := filepath.Join(t.TempDir(), "m.mil")
	require.NoError(t, os.WriteFile(program, []byte(reluProgram), 0o600))
	for _, args := range [][]string{
		{"inspect", "-"}, {"lint", "-"}, {"cost", "-"}, {"run", "--engine", "soft", "--mil", "-"},
		{"run", "--engine", "soft", "--mil", program, "--in", "x=-"},
		{"image", "--engine", "soft", "--filter", "blur", "-", filepath.Join(t.TempDir(), "out.png")},
	} {
		for _, writer := range []bool{true, false} {
			file, begin := pipe(t), reluProgram[:10] // of a file that the command goes on reading
			given := append([]string{}, args...)
			for i := range given {
				switch given[i] {
				case "-":
					given[i] = file
				case "x=-":
					given[i], begin = "x="+file, "\x93NUMPY\x01\x00v\x00"
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			var out, errw bytes.Buffer
			code := make(chan int, 1)
			go func() { code <- execute(ctx, append(given, "--json"), &out, &errw) }()
			if writer {
				w, err := os.OpenFile(file, os.O_WRONLY, 0) // waits until the command opens it
				require.NoError(t, err)
				if args[0] == "image" {
					begin = "\x89PNG\r\n\x1a\n"
				}
				_, err = w.WriteString(begin)
				require.NoError(t, err)
				defer w.Close()
			}
			cancel()
			require.Equal(t, cli.CodeInterrupted, await.Value(t, code), "%q", args)
			requireInterrupted(t, out.Bytes())
			require.Equal(t, "ane-roundtrip: interrupted\n", errw.String())
		}
	}
}

// A command that waits for standard input returns when it is interrupted.
func TestInterruptEndsTheWaitForStandardInput(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	usual := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = usual }()
	ctx, cancel := context.WithCancel(t.Context())
	var out, errw bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- execute(ctx, []string{"inspect", "-", "--json"}, &out, &errw) }()
	cancel()
	require.Equal(t, cli.CodeInterrupted, await.Value(t, code))
	requireInterrupted(t, out.Bytes())
}

// The decoder of a large file stops reading when the command is interrupted.
func TestInterruptEndsReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mil")
	require.NoError(t, os.WriteFile(path, []byte(reluProgram), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	a := cli.New(rootCommand, nil, nil, nil)
	f, err := a.OpenInput(ctx, "--mil", path)
	require.NoError(t, err)
	defer f.Close()
	var b [10]byte
	n, err := f.Read(b[:])
	require.NoError(t, err)
	require.Equal(t, reluProgram[:10], string(b[:n]))
	cancel()
	_, err = f.Read(b[:])
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.ReadAt(b[:], 0)
	require.ErrorIs(t, err, context.Canceled)
}

// SIGHUP interrupts a command as SIGINT and SIGTERM do, unless it was started with SIGHUP ignored.
func TestSignalsInterrupt(t *testing.T) {
	leaktest.SkipEmulated(t)
	if signal.Ignored(unix.SIGHUP) {
		t.Skip("SIGHUP is ignored, which the command keeps: run it without nohup")
	}
	for _, end := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		file := pipe(t)
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Args = []string{"ane-roundtrip", "inspect", "--json", file}
		var out bytes.Buffer
		c.Stdout = &out
		require.NoError(t, c.Start())
		w, err := os.OpenFile(file, os.O_WRONLY, 0) // waits until the command opens it
		require.NoError(t, err)
		require.NoError(t, c.Process.Signal(end))
		require.Error(t, c.Wait())
		require.NoError(t, w.Close())
		require.Equal(t, cli.CodeInterrupted, c.ProcessState.ExitCode(), "%v", end)
		requireInterrupted(t, out.Bytes())
	}

	file := pipe(t)
	c := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP; exec "$0" inspect "$1"`, "ane-roundtrip", file)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(bin, "ane-roundtrip")))
	c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var errw bytes.Buffer
	c.Stderr = &errw
	require.NoError(t, c.Start())
	w, err := os.OpenFile(file, os.O_WRONLY, 0)
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(unix.SIGHUP))
	_, err = w.WriteString(reluProgram)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, c.Wait(), "%s", &errw)
}
