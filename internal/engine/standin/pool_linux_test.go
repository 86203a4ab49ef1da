//go:build cgo

package standin

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/objcbridge"
)

// poolEnv is the environment variable that makes TestPool a process that loads programs.
const poolEnv = "STANDIN_TEST_POOL"

// loadsForParent loads a program for each line of its input, and prints the error, or "loaded".
func loadsForParent(t *testing.T) {
	f, err := Start(Options{ProgramLimit: 1000})
	require.NoError(t, err)
	b := onBridge(t, f)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		p, err := b.NewProgram([]byte(addition), nil)
		require.NoError(t, err)
		defer p.Close()
		if _, err = p.Compile(driverabi.QoSDefault); err == nil {
			err = p.Load(driverabi.QoSDefault)
		}
		answer := "loaded"
		if err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println("answer: " + answer)
	}
}

// loader is such a process.
type loader struct {
	t       *testing.T
	command *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
}

func startLoader(t *testing.T, dir string, env ...string) *loader {
	c := exec.Command(os.Args[0], "-test.run=^TestPool$") // it ends with its input, or is killed
	own := t.TempDir()                                    // whose files a killed process leaves
	tmpdir := own
	if host.Mac {
		tmpdir = "" // the dump is of macOS 27, which takes programs from the user's folder alone
	}
	c.Env = append(os.Environ(), append(env, poolEnv+"=1", objcbridge.EnvDir+"="+dir,
		EnvDump+"="+dumps+"m5max-27.0.1-program-pool.json", temporary+"="+own, "TMPDIR="+tmpdir)...)
	l := &loader{t: t, command: c}
	var err error
	l.ask, err = c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	l.answers = bufio.NewScanner(out)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = l.ask.Close(); _ = c.Wait() })
	return l
}

// load asks for one program and returns the answer.
func (l *loader) load() string {
	_, err := io.WriteString(l.ask, "load\n")
	require.NoError(l.t, err)
	for l.answers.Scan() {
		if answer, ok := strings.CutPrefix(l.answers.Text(), "answer: "); ok {
			return answer
		}
	}
	l.t.Fatal("the process ended")
	return ""
}

// TestPool: the slots are those of all processes of a pool, as in the dump, where 58 programs of one process and 57 of
// another filled an M5 Max. A process that is killed gives its slots back. Processes without a common pool do not share.
func TestPool(t *testing.T) {
	if os.Getenv(poolEnv) != "" {
		loadsForParent(t)
		return
	}
	dir := bridgetest.Build(t)
	seen := dataOf(t, "m5max-27.0.1-program-pool.json").(map[string]any)["two_processes"].(map[string]any)
	file := EnvPool + "=" + filepath.Join(t.TempDir(), "pool")
	first, second := startLoader(t, dir, file), startLoader(t, dir, file)
	for range seen["first"].(int) {
		require.Equal(t, "loaded", first.load())
	}
	for range seen["second"].(int) {
		require.Equal(t, "loaded", second.load())
	}
	for _, l := range []*loader{first, second} {
		answer := l.load()
		require.Contains(t, answer, "no ANE resources (transient; retry) (underlying=0x5)")
	}
	alone := startLoader(t, dir, EnvPool+"=")
	require.Equal(t, "loaded", alone.load(), "it has a pool of its own")

	require.NoError(t, first.command.Process.Kill())
	_ = first.command.Wait()
	for range seen["first"].(int) {
		require.Equal(t, "loaded", second.load(), "the places of the killed process")
	}
	require.Contains(t, second.load(), "no ANE resources")
}

// TestPoolOfChildren: a process that starts the framework names its pool to those that it starts, while it runs.
func TestPoolOfChildren(t *testing.T) {
	started(t)
	path := os.Getenv(EnvPool)
	require.NotEmpty(t, path)
	again, err := poolOf("")
	require.NoError(t, err)
	require.Equal(t, path, again)
	require.False(t, ended(path))
	require.True(t, ended("/proc/self/fd/0"), "another file has its number")
	require.True(t, ended("/proc/4194305/fd/3"), "no process has this number")
	require.False(t, ended("slots"))
}
