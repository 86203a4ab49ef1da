//go:build !macrules

package server

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/fusetest"
	"github.com/anekit/anekit/internal/leaktest"
)

func init() {
	child["connects later"] = func() int {
		fmt.Println("runs")
		in := bufio.NewReader(os.Stdin)
		_, _ = in.ReadString('\n')
		conn, err := wiretest.Dial(os.Getenv(pathEnv))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("connected")
		_, _ = in.ReadString('\n')
		_ = conn.Close()
		return 0
	}
}

// TestExecutablesOnSilentFiles: a client whose executable lies on a file system that does not answer keeps no other
// out, whether the broker opens the file, reads it or looks at its times.
func TestExecutablesOnSilentFiles(t *testing.T) {
	leaktest.SkipEmulated(t)
	path := listen(t, Config{Stay: true})
	program, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	var silent atomic.Bool
	dir := fusetest.Mount(t, program, func(r fusetest.Request) bool {
		return silent.Load() && r != fusetest.Read // the program runs on
	})
	// The shell executes it: a process of Go that starts another one stands still until that has read its program,
	// which this process serves.
	cmd := exec.Command("sh", "-c", `exec "$0"`, filepath.Join(dir, fusetest.File))
	cmd.Env = append(os.Environ(), childEnv+"=connects later", pathEnv+"="+path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	says := func(want string) {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want+"\n", line)
	}
	says("runs")
	silent.Store(true)
	_, err = io.WriteString(in, "\n")
	require.NoError(t, err)
	says("connected")
	p := dial(t, path)
	_, err = p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	_, err = io.WriteString(in, "\n")
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
}
