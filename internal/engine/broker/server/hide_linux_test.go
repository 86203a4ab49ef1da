//go:build !macrules

package server

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
)

const hideEnv = "ANEKIT_SERVER_TEST_HIDE"

func init() {
	child["hide"] = func() int {
		if os.Getenv(hideEnv) != "" {
			if err := Hide(); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		fd, err := unix.MemfdCreate("a client's", unix.MFD_CLOEXEC)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(fd)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	child["peep"] = func() int {
		_, err := os.Open(os.Getenv(pathEnv))
		fmt.Println(err)
		return 0
	}
}

// TestHide: no process of the same user opens the descriptors of a broker through /proc, as
// it could those of another program. Root is asked to be two processes of a plain user.
func TestHide(t *testing.T) {
	leaktest.SkipEmulated(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to be another user")
	}
	plain := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	start := func(what string, env ...string) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(append(os.Environ(), childEnv+"="+what), env...)
		cmd.SysProcAttr = plain
		cmd.Dir = "/"
		return cmd
	}
	for _, hidden := range []string{"", "1"} {
		cmd := start("hide", hideEnv+"="+hidden)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var fd int
		_, err = fmt.Fscan(out, &fd)
		require.NoError(t, err)
		saw, err := start("peep", fmt.Sprintf("%s=/proc/%d/fd/%d", pathEnv, cmd.Process.Pid, fd)).Output()
		require.NoError(t, err)
		if hidden == "" {
			require.Equal(t, "<nil>", strings.TrimSpace(string(saw)))
		} else {
			require.Contains(t, string(saw), unix.EACCES.Error())
		}
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
	}
}
