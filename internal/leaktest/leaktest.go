// Package leaktest fails a test run that leaks shared memory, goroutines or files.
package leaktest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// Main runs the tests of a package, for its TestMain, and exits. A run that leaks fails, even
// if its tests pass. Temporary files go to a folder of this process, which must be empty at
// the end. Each function of more lists other leaks. What goroutines are still giving back is no leak: Main looks again
// until await.Patience is over, unless the run has failed already. Files that fuzzing leaves are no leak either: it
// kills a worker that does not end within seconds, in the middle of an input; Main removes them.
func Main(m *testing.M, more ...func() []string) {
	dir, err := private()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	more = append(more, goroutines, memory)
	if !fuzzing() {
		more = append(more, func() []string { return files(dir) })
	}
	code = judge(code, more, await.Left, os.Stderr)
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// judge names what the lists have, and returns the exit status of the run. settled calls a list until it is empty; that
// of a failed run is called once.
func judge(code int, lists []func() []string, settled func(list func() []string) []string, w io.Writer) int {
	wait := code == 0
	for _, list := range lists {
		left := list()
		if wait && len(left) > 0 {
			left = settled(list)
		}
		for _, what := range left {
			fmt.Fprintln(w, "tests leaked:", what)
			code = 1
		}
	}
	return code
}

func goroutines() []string {
	if err := goleak.Find(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func memory() []string {
	if s := unimem.Live(); s.Blocks != 0 || s.Mappings != 0 || s.Forgotten != 0 || s.Unbalanced != 0 {
		return []string{fmt.Sprintf("memory: %+v", s)}
	}
	return nil
}

// longest is the length of a folder for temporary files in which the paths of tests' sockets have room: the system
// takes 107 bytes of them.
const longest = 50

// ShortTempDir has temporary files go to /tmp where TMPDIR is too long for sockets and /tmp can be used. It leaves the
// TMPDIR of a Mac, whose framework compiles only programs in the user's own folder.
func ShortTempDir() error {
	if len(os.TempDir()) <= longest || host.Windows || host.Mac {
		return nil
	}
	probe, err := os.MkdirTemp("/tmp", "leaktest")
	if err != nil {
		return nil // the tests that need sockets say that the path is too long
	}
	return errors.Join(os.Remove(probe), os.Setenv("TMPDIR", "/tmp"))
}

// private makes the folder and sets it for temporary files: Go uses TMPDIR, GNUstep uses TEMP. With a Mac's rules
// TMPDIR stays, see ShortTempDir.
func private() (dir string, err error) {
	if err := ShortTempDir(); err != nil {
		return "", err
	}
	if err := bridgetest.ForBlocks(); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "leaktest"); err == nil && !host.Mac {
		err = os.Setenv("TMPDIR", dir)
	}
	if err == nil {
		err = os.Setenv("TEMP", dir)
	}
	return dir, err
}

// fuzzing reports whether the run has started workers that fuzz. A worker is started with the flag as well.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// layerCache is a file that the validation layer of Vulkan keeps among the temporary files of a user without ~/.cache.
const layerCache = "shader_validation_cache-*.bin"

// files lists the files in dir.
func files(dir string) []string {
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return []string{err.Error()}
	}
	return slices.DeleteFunc(left, func(path string) bool {
		isCache, err := filepath.Match(layerCache, filepath.Base(path))
		return err == nil && isCache
	})
}

// Emulator is the environment variable with the program that runs test binaries of another processor, as go test -exec.
const Emulator = "ANEKIT_EXEC"

// Emulated reports whether an emulator runs the tests.
func Emulated() bool { return os.Getenv(Emulator) != "" }

const emulated = "needs child processes and deadlines, which do not work under an emulator; run it on the processor " +
	"itself"

// SkipEmulated skips, under an emulator, a test that starts its own binary.
func SkipEmulated(tb testing.TB) {
	tb.Helper()
	if Emulated() {
		tb.Skip(emulated)
	}
}

// NeedsProcesses ends, under an emulator, a run of tests that start their own binary or have
// deadlines. It is for TestMain.
func NeedsProcesses() {
	if Emulated() {
		fmt.Println("skipped:", emulated)
		os.Exit(0)
	}
}

// NeedsFaultAddress skips, under an emulator, a test that reads beyond a file that became shorter.
func NeedsFaultAddress(tb testing.TB) {
	tb.Helper()
	if Emulated() {
		tb.Skip("qemu does not tell the address of a bus error; run it without an emulator")
	}
}
