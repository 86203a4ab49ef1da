//go:build !macrules

package server

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/leaktest"
)

// What a client that becomes another program is told.
const (
	becomeEnv = "ANEKIT_SERVER_TEST_BECOME" // path of the other program
	socketEnv = "ANEKIT_SERVER_TEST_SOCKET" // descriptor of the connection
)

func init() {
	child["before exec"] = func() int {
		fmt.Println(becomeAnother())
		return 1
	}
	child["after exec"] = func() int {
		fd, err := strconv.Atoi(os.Getenv(socketEnv))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		conn, err := wire.NewConn(fd)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		p := newPeer(conn)
		defer p.close()
		fmt.Println(p.greet(""))
		return 0
	}
}

// becomeAnother connects and, when its input ends, becomes another program that has the
// connection.
func becomeAnother() error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: os.Getenv(pathEnv)}); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	path := os.Getenv(becomeEnv)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, childEnv+"=") })
	return syscall.Exec(path, []string{path}, append(env, childEnv+"=after exec", socketEnv+"="+strconv.Itoa(fd)))
}

// TestExecAfterConnect: a client that becomes another program before it says hello gets the
// identity of neither.
func TestExecAfterConnect(t *testing.T) {
	leaktest.SkipEmulated(t)
	s, path := served(t)
	other := filepath.Join(t.TempDir(), "other")
	bytes, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(other, bytes, 0o700))
	exe, err := os.Executable()
	require.NoError(t, err)
	for become, want := range map[string]string{other: "runs another executable", exe: "<nil>"} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), childEnv+"=before exec", pathEnv+"="+path, becomeEnv+"="+become)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		var out strings.Builder
		cmd.Stdout = &out
		require.NoError(t, cmd.Start())
		arrived := func() int {
			s.arrivals.mu.Lock()
			defer s.arrivals.mu.Unlock()
			return len(s.arrivals.all)
		}
		eventually(t, "its connection is taken", func() bool { return arrived() == 1 })
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait(), "%s", &out)
		require.Contains(t, out.String(), want)
		eventually(t, "it is gone", func() bool { return arrived() == 0 })
	}
}
