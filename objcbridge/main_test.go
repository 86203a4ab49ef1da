package objcbridge

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// fakes are the bridge libraries compiled in a run of the tests.
var fakes = struct {
	sync.Mutex
	dir string
}{}

func TestMain(m *testing.M) {
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "objcbridge")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if fakes.dir, err = filepath.EvalSymlinks(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv("TEMP", fakes.dir); err != nil { // GNUstep's folder of temporary files
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if !await.Poll(func() bool { err = goleak.Find(); return err == nil }) {
		fmt.Fprintln(os.Stderr, "tests leaked goroutines:", err)
		code = 1
	}
	process.Lock()
	defer process.Unlock()
	if len(process.pinned) != 0 {
		fmt.Fprintf(os.Stderr, "tests leaked %d pinned programs\n", len(process.pinned))
		code = 1
	}
	return code
}

// compile builds a shared library from a C file, once per name.
func compile(tb testing.TB, name, source string, flags ...string) string {
	tb.Helper()
	if cannotLoad != "" {
		tb.Skip(cannotLoad + "; " + howToLoad)
	}
	cc := compiler(tb)
	fakes.Lock()
	defer fakes.Unlock()
	file := filepath.Join(fakes.dir, name)
	if _, err := os.Stat(file); err == nil {
		return file
	}
	require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o755))
	args := append([]string{"-std=gnu11", "-O1", "-shared", "-fPIC", "-Isrc", source, "-o", file, "-lpthread"},
		flags...)
	out, err := exec.Command(cc, args...).CombinedOutput()
	require.NoError(tb, err, "%s", out)
	return file
}

func compiler(tb testing.TB) string {
	tb.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		tb.Skip("no C compiler cc; on Debian: apt-get install gcc libc6-dev")
	}
	return cc
}

// fakeBridge compiles testdata/fakebridge.c. It reads both files so that go test detects their changes.
func fakeBridge(tb testing.TB) string {
	tb.Helper()
	for _, file := range []string{"src/bridge.h", "testdata/fakebridge.c"} {
		_, err := os.ReadFile(file)
		require.NoError(tb, err)
	}
	return compile(tb, "fake/"+LibraryName(), "testdata/fakebridge.c")
}

// openFake opens the fake bridge and closes it at the end of the test, which must have closed all its
// handles by then.
func openFake(tb testing.TB) *Bridge {
	tb.Helper()
	b, err := Open(Options{Library: fakeBridge(tb), Framework: "fake"})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, b.Close()) })
	return b
}

// fakeProgram makes a loaded program and a request. The test closes them at its end.
func fakeProgram(tb testing.TB, b *Bridge) (*Program, *Request) {
	tb.Helper()
	s, err := b.WrapSurface(1, 0)
	require.NoError(tb, err)
	p, err := b.NewProgram([]byte("program"), nil)
	require.NoError(tb, err)
	_, err = p.Compile(driverabi.QoSDefault)
	require.NoError(tb, err)
	require.NoError(tb, p.Load(driverabi.QoSDefault))
	r, err := p.NewRequest(0, []Binding{{s, 0, 64}}, []Binding{{s, 1, 64}})
	require.NoError(tb, err)
	tb.Cleanup(func() {
		r.Close()
		p.Close()
		s.Close()
	})
	return p, r
}

// refused requires err to be a rejection for the reason with these words in its text.
func refused(tb testing.TB, err error, reason Reason, words ...string) {
	tb.Helper()
	var e *Error
	require.ErrorAs(tb, err, &e)
	require.Equal(tb, KindRefused, e.Kind)
	require.Equal(tb, reason, e.Reason)
	require.EqualValues(tb, reason, e.Code)
	for _, w := range words {
		require.Contains(tb, err.Error(), w)
	}
	require.NotContains(tb, strings.TrimSpace(err.Error()), "\n")
}
