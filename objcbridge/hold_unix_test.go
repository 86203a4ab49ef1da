//go:build unix

package objcbridge_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// lockEnv is the environment variable with the file that TestLockUntilKilled locks, in a child process.
const lockEnv = "ANEKIT_TEST_LOCK"

// locked opens a file and locks it as another process does. It returns nil if it is locked.
func locked(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		require.ErrorIs(t, err, unix.EWOULDBLOCK)
		require.NoError(t, file.Close())
		return nil
	}
	return file
}

// draft makes a new program and returns the file of its lock too.
func (g *rig) draft(t *testing.T) (p *objcbridge.Program, lock string) {
	t.Helper()
	p, err := g.b.NewProgram(g.text(), nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	facts, err := p.Inspect()
	require.NoError(t, err)
	return p, facts.Path + ".lock"
}

// TestHoldIsFromCompileToLoad: a process that has written a program's files holds the program until it has loaded it,
// and then leaves no lock.
func TestHoldIsFromCompileToLoad(t *testing.T) {
	g := newRig(t)
	p, lock := g.draft(t)
	require.NoFileExists(t, lock)
	_, err := p.Compile(driverabi.QoSDefault)
	require.NoError(t, err)
	require.Nil(t, locked(t, lock), "held")
	require.NoError(t, p.Load(driverabi.QoSDefault))
	require.NoFileExists(t, lock)
	require.NoError(t, p.Unload(driverabi.QoSDefault))
	require.NoFileExists(t, lock)

	q, lock := g.draft(t)
	_, err = q.Compile(driverabi.QoSDefault)
	require.NoError(t, err)
	q.Close()
	require.NoFileExists(t, lock, "the program was never loaded")
}

// TestHoldElsewhere: what changes a program's folder waits for the process that holds it, and gives up after its
// patience.
func TestHoldElsewhere(t *testing.T) {
	g := newRig(t)
	p, lock := g.draft(t)
	p.SetPatience(0)
	other := locked(t, lock)
	holds := func(err error) {
		t.Helper()
		var e *objcbridge.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, objcbridge.ReasonHeld, e.Reason)
	}
	_, err := p.Compile(driverabi.QoSDefault)
	holds(err)
	holds(p.Purge())
	require.NoError(t, os.Remove(lock))
	require.NoError(t, other.Close())
	_, err = p.Compile(driverabi.QoSDefault)
	require.NoError(t, err, "it can be compiled later")
	require.NoError(t, p.Load(driverabi.QoSDefault))

	other = locked(t, lock)
	holds(p.Unload(driverabi.QoSDefault))
	p.Close() // goes on, because the program would stay loaded
	require.Zero(t, g.b.Usage().Loaded-1, "the rig's own program")
	require.FileExists(t, lock, "the lock is the other's")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, other.Close())
}

// TestHoldChangesHands: a process that waits gets the program from each of those before it, although each removes the
// file of its lock.
func TestHoldChangesHands(t *testing.T) {
	g := newRig(t)
	p, lock := g.draft(t)
	p.SetPatience(await.Patience)
	first := locked(t, lock)
	answer := make(chan error, 1)
	go func() {
		_, err := p.Compile(driverabi.QoSDefault)
		answer <- err
	}()
	require.NoError(t, os.Remove(lock))
	second := locked(t, lock)
	if second == nil { // the program was first
		require.NoError(t, <-answer)
		require.NoError(t, first.Close())
		return
	}
	require.NoError(t, first.Close())
	require.Empty(t, answer, "the second owner has it")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, second.Close())
	require.NoError(t, <-answer)
	require.Nil(t, locked(t, lock))
	require.NoError(t, p.Load(driverabi.QoSDefault))
	require.NoFileExists(t, lock)
}

// TestLockUntilKilled is the child of TestHoldOfADeadProcess.
func TestLockUntilKilled(t *testing.T) {
	path := os.Getenv(lockEnv)
	if path == "" {
		t.Skip("run by TestHoldOfADeadProcess")
	}
	file := locked(t, path)
	os.Stdout.WriteString("locked\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent kills this process, or ends itself
	file.Close()
}

// TestHoldOfADeadProcess: the lock of a process that was killed is no lock, and its file goes with the next one.
func TestHoldOfADeadProcess(t *testing.T) {
	g := newRig(t)
	p, lock := g.draft(t)
	p.SetPatience(0)
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self, "-test.run=^TestLockUntilKilled$")
	child.Env = append(os.Environ(), lockEnv+"="+lock)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)
	_, err = p.Compile(driverabi.QoSDefault)
	require.ErrorContains(t, err, "another process")
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.FileExists(t, lock)
	_, err = p.Compile(driverabi.QoSDefault)
	require.NoError(t, err)
	require.NoError(t, p.Load(driverabi.QoSDefault))
	require.NoFileExists(t, lock)
}
