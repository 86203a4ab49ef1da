package wasm_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
)

// A guest in Go works on the engine's pages as the others do. Its binary has megabytes, so that it is not beside the
// source: the test builds it twice and compares.
func TestGuestsInGo(t *testing.T) {
	effort.NeedsFull(t, "two builds")
	leaktest.SkipEmulated(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command in PATH to build the guest: install Go")
	}
	var text [2][]byte
	for i := range text {
		file := filepath.Join(t.TempDir(), "guest.wasm")
		cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-o", file, "./testdata/reactor")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		text[i], err = os.ReadFile(file)
		require.NoError(t, err)
	}
	require.True(t, string(text[0]) == string(text[1]), "two builds of the guest differ")
	ctx := context.Background()
	for _, opts := range [][]engine.Option{{engine.AllowOffsets()}, nil} {
		r := newRig(t, path{engine: engine.Soft, opts: opts, host: []wasm.Option{wasm.Uninterrupted()},
			align: map[bool]int{true: 64, false: 16384}[opts != nil]})
		code, err := r.host.Compile(ctx, text[0])
		require.NoError(t, err)
		defer func() { require.NoError(t, code.Close(ctx)) }()
		g, err := code.Start(ctx, wasm.Limits{})
		require.NoError(t, err)
		defer func() { require.NoError(t, g.Close(ctx)) }()
		results, err := g.Call(ctx, "multiply")
		require.NoError(t, err)
		require.Zero(t, int32(uint32(results[0])), "of 16,384 elements; %s", g.LastError())
		require.Zero(t, g.Copied())
	}
}
