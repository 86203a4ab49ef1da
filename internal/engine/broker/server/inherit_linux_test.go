//go:build !macrules

package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
)

func init() {
	// a broker as a service manager starts it
	child["inherit"] = func() int {
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
		defer stop()
		l, err := shared.Inherit(shared.Passed())
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if l == nil {
			fmt.Println("no socket")
			return 0
		}
		for _, v := range os.Environ() {
			if strings.HasPrefix(v, "LISTEN_") {
				fmt.Println("left:", v)
				return 1
			}
		}
		if flags, err := unix.FcntlInt(3, unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			fmt.Println("a child would have it")
			return 1
		}
		if again, err := shared.Inherit(shared.Passed()); again != nil || err != nil {
			fmt.Println("twice", err)
			return 1
		}
		if err := Serve(ctx, l, Config{Stay: true}); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("served", l.Path())
		return 0
	}
}

// activated starts a broker to which sockets are passed as sd_listen_fds(3) says. pid is a shell's word.
func activated(t *testing.T, pid, count string, sockets ...*os.File) *exec.Cmd {
	t.Helper()
	leaktest.SkipEmulated(t)
	script := fmt.Sprintf("LISTEN_PID=%s LISTEN_FDS=%s exec %s", pid, count, os.Args[0])
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), childEnv+"=inherit")
	cmd.ExtraFiles = sockets
	return cmd
}

// TestInherit: a broker serves a socket that was passed to it, and leaves its file. Connections that came before the
// broker, and after it, wait for one.
func TestInherit(t *testing.T) {
	path := wiretest.Place(t)
	passed := wiretest.Listening(t, "unixpacket", path)
	for range 2 {
		conn, err := wiretest.Dial(path) // waits in the socket's queue
		require.NoError(t, err)
		p := newPeer(conn)
		cmd := activated(t, "$$", "1", passed)
		var out lines
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		err = await.Done(t, func() error { return p.greet("") })
		if err == nil {
			_, err = p.compile(model(t, "add"))
		}
		p.close()
		require.NoError(t, cmd.Process.Signal(unix.SIGTERM))
		require.NoError(t, await.Done(t, cmd.Wait), "%s", &out)
		require.NoError(t, err, "%s", &out)
		require.Equal(t, "served "+path+"\n", out.String())
		info, err := os.Lstat(path)
		require.NoError(t, err, "the file is not the broker's")
		require.Equal(t, os.ModeSocket, info.Mode().Type())
	}
}

// TestInheritNothing: a process to which no socket was passed makes its own.
func TestInheritNothing(t *testing.T) {
	for _, one := range [][2]string{{"1", "1"}, {"$$", "0"}, {"''", "1"}, {"''", "''"}, {"$$", "-1"}, {"$$", "x"}} {
		out, err := activated(t, one[0], one[1]).CombinedOutput()
		require.NoError(t, err, "%v: %s", one, out)
		require.Equal(t, "no socket\n", string(out), "%v", one)
	}
}

// TestSystemdSocketActivate has systemd's own program pass the socket.
func TestSystemdSocketActivate(t *testing.T) {
	leaktest.SkipEmulated(t)
	tool, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is not installed; TestInherit passes a socket as it does")
	}
	path := wiretest.Place(t)
	cmd := exec.Command(tool, "--seqpacket", "--listen="+path, "--setenv="+childEnv+"=inherit", os.Args[0])
	var out lines
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var conn *wire.Conn
	await.Until(t, "it listens", func() bool {
		conn, err = wiretest.Dial(path)
		return err == nil
	})
	p := newPeer(conn)
	defer p.close()
	require.NoError(t, await.Done(t, func() error { return p.greet("") }), "%s", &out)
	_, err = p.compile(model(t, "add"))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(unix.SIGTERM)) // it is the broker by now
	require.NoError(t, await.Done(t, cmd.Wait), "%s", &out)
	require.Contains(t, out.String(), "served "+path)
	require.FileExists(t, path)
}
