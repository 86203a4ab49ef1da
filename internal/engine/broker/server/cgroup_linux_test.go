//go:build !macrules

package server

import (
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/leaktest"
)

// hierarchy is a folder with files as the kernel makes them for control groups.
func hierarchy(t *testing.T) (root string, write func(path, text string)) {
	root = t.TempDir()
	return root, func(path, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
}

// TestMemoryLimits reads what cgroups of both versions say.
func TestMemoryLimits(t *testing.T) {
	root, write := hierarchy(t)
	limit := func(list string) int64 { return memoryLimit(controlGroups{filepath.Join(root, list), root}) }
	write("none", "3:cpu:/a/b\n")
	write("two", "0::/a/b\n")
	write("one", "4:cpuacct,memory:/a/b\n0::/\n")
	none := limit("none")
	require.Greater(t, none, int64(1<<28))
	require.Equal(t, none, limit("missing"))
	write("a/memory.max", "123456789\n")
	write("a/b/memory.max", "max\n")
	write("memory/a/b/memory.limit_in_bytes", "98765432\n")
	require.EqualValues(t, 123456789, limit("two"))
	require.EqualValues(t, 98765432, limit("one"))
	write("a/b/memory.high", "max\n")
	require.EqualValues(t, 123456789, limit("two"))
	write("a/b/memory.high", "87654321\n")
	require.EqualValues(t, 87654321, limit("two"))
}

// TestThreadLimits: the limits on tasks of the groups, less what others have of them.
func TestThreadLimits(t *testing.T) {
	root, write := hierarchy(t)
	write("two", "0::/a/b\n")
	write("one", "4:pids:/c\n0::/\n")
	two, one := controlGroups{filepath.Join(root, "two"), root}, controlGroups{filepath.Join(root, "one"), root}
	require.EqualValues(t, math.MaxInt64, two.threads())
	own := func() int64 {
		tasks, err := os.ReadDir("/proc/self/task")
		require.NoError(t, err)
		return int64(len(tasks))
	}
	write("a/b/pids.max", "max\n")
	write("a/b/pids.current", "10\n")
	require.EqualValues(t, math.MaxInt64, two.threads())
	write("a/pids.max", "1000\n")
	write("a/pids.current", "400\n")
	write("pids/c/pids.max", "500\n")
	before := own()
	got := [2]int64{two.threads(), one.threads()}
	after := own() // threads of earlier tests may end meanwhile, and the runtime may start some
	for i, left := range []int64{600, 500} {
		require.GreaterOrEqual(t, got[i], left+min(before, after))
		require.LessOrEqual(t, got[i], left+max(before, after))
	}
	require.Equal(t, MaxClients, placesAmong(math.MaxInt64))
	require.Equal(t, maxCompiling, compilesAmong(math.MaxInt64, MaxClients))
	require.Equal(t, 4, placesAmong(4*placeThreads+1))
	require.Equal(t, 1, compilesAmong(4*placeThreads+1, 4))
	require.NoError(t, crowded(placeThreads))
	require.ErrorIs(t, crowded(placeThreads-1), ane.ErrExhausted)
}

// TestStraysLeaveRoom: where files that clients keep fill the broker's group, no more of them are touched, and what
// touches none goes on. The numbers are in the refusal.
func TestStraysLeaveRoom(t *testing.T) {
	root, write := hierarchy(t)
	write("status", "RssFile:\t    4 kB\nRssShmem:\t       0 kB\n")
	write("memory.stat", "file 7\nshmem 0\n")
	b := startBroker(t, Config{
		process: allowance{files: 1 << 12, mappings: 1 << 14, memory: 1 << 29},
		strays:  &strays{group: controlGroup{root, true}, limit: 1 << 30, status: filepath.Join(root, "status")},
	})
	p := b.join(alice, "")
	m := model(t, "conv-3x3")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	write("memory.stat", "file 7\nshmem 944000000\n")
	c, err := p.compile(m)
	require.NoError(t, err)
	require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &wire.Loaded{}))
	bind := func() error {
		token, _, err := p.surface(1 << 20)
		require.NoError(t, err)
		return p.ask(wire.KindBind, &wire.Bind{Program: c.Program, In: r.ports[0], Out: []wire.Port{{Surface: token}}},
			&wire.Bound{})
	}
	err = bind()
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "control group has 944000000 in files that the broker does not use")
	require.NotZero(t, p.counter(t, "refused for want of memory"))
	require.NoError(t, p.evaluate(r, 0))
	write("status", "RssFile:\t    4 kB\nRssShmem:\t 921875 kB\n") // mapped here, but no client was charged for it
	require.Error(t, bind())
	write("memory.stat", "file 7\nshmem 4096\n")
	require.NoError(t, bind(), "the files were closed")
}

var memoryFiles = [2]string{"memory.limit_in_bytes", "memory.max"}

// group makes a cgroup with a limit, of which the file's name depends on the version, and returns the path of its list
// of processes.
func group(t *testing.T, controller string, limits [2]string, limit int) (procs string) {
	t.Helper()
	leaktest.SkipEmulated(t)
	for i, root := range []string{"/sys/fs/cgroup/" + controller, "/sys/fs/cgroup"} {
		dir := filepath.Join(root, "anekit-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		t.Cleanup(func() { await.Until(t, "the group is empty", func() bool { return os.Remove(dir) == nil }) })
		if os.WriteFile(filepath.Join(dir, limits[i]), []byte(strconv.Itoa(limit)), 0o600) == nil {
			_ = os.WriteFile(filepath.Join(dir, "memory.memsw.limit_in_bytes"), []byte(strconv.Itoa(limit)), 0o600)
			return filepath.Join(dir, "cgroup.procs")
		}
	}
	t.Skip("no cgroup can be limited: run as root on a system with the controllers")
	return ""
}

// startIn starts a broker in a cgroup, which ends when in is closed, and returns the first line that it says. It has as
// many processors as this process, whatever limit its cgroup has.
func startIn(t *testing.T, procs, path string) (cmd *exec.Cmd, in io.Closer, said string) {
	t.Helper()
	cmd = exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=group", groupEnv+"="+procs, pathEnv+"="+path,
		"GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil { // the test has failed
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	b := make([]byte, 300)
	n, err := out.Read(b)
	require.NoError(t, err)
	return cmd, in, strings.TrimSpace(string(b[:n]))
}

// TestBrokerWithFewThreads: where its group may have few tasks, a broker has few places.
func TestBrokerWithFewThreads(t *testing.T) {
	own := ownThreads + runtime.GOMAXPROCS(0)
	path := socket(t)
	cmd, in, _ := startIn(t, group(t, "pids", [2]string{"pids.max", "pids.max"}, own+2*placeThreads), path)
	eventually(t, "it listens", func() bool { _, err := os.Stat(path); return err == nil })
	first := dial(t, path)
	refused := quiet(t, path)
	require.ErrorContains(t, refused.greet(""), "limit of 1 clients of one process")
	_, err := first.ready(model(t, "conv-3x3"), 21)
	require.NoError(t, err)
	first.close()
	refused.close()
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}
