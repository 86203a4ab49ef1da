package wasm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
)

// A guest writes to its output and does nothing else to it: what the host gave as Output may be a file that others
// read, or a terminal.
func TestGuestsOnlyWriteToTheirOutput(t *testing.T) {
	const before = "of the host\n"
	file := filepath.Join(t.TempDir(), "output")
	require.NoError(t, os.WriteFile(file, []byte(before), 0o600))
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	g := r.start("wasi.wasm", wasm.Limits{Output: f})
	for fd := 1; fd <= 2; fd++ {
		require.NotZero(t, g.call("cut", fd))
		_ = g.call("read", fd)
		b, err := g.Memory().Range(512, 64)
		require.NoError(t, err)
		require.Equal(t, make([]byte, 64), b, "descriptor %d reads the file", fd)
		require.NotZero(t, g.call("flags", fd, 4), "non-blocking")
	}
	_, err = f.Seek(0, 2)
	require.NoError(t, err)
	require.Zero(t, g.call("write", 1))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before+"said\n", string(text))
}

// Standard files stay open, so that they are no state that a snapshot of an actor would have to hold.
func TestStandardFilesStayOpen(t *testing.T) {
	const badDescriptor, notSupported = 8, 58
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	g := r.start("wasi.wasm", wasm.Limits{})
	for fd := range 3 {
		require.Equal(t, notSupported, g.call("close", fd))
		require.Equal(t, notSupported, g.call("renumber", fd, 7))
	}
	for _, fd := range []int{3, 99, -1, -1 << 31} {
		require.Equal(t, badDescriptor, g.call("close", fd))
		require.Equal(t, badDescriptor, g.call("renumber", fd, 1))
	}
	require.Zero(t, g.call("write", 1))
	require.Zero(t, g.call("write", 2))
}
