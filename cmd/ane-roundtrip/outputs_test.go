package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// run rejects an output that is a weight file of any function of the program, under any name or link.
func TestOutputsKeepWeights(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	weights, err := blob.Blank("w", 1<<20, []blob.Need{{Offset: 64, Type: mil.TensorOf(mil.FP16, 4)}})
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(name("cache"), 0o700))
	require.NoError(t, os.WriteFile(name("cache/real.bin"), weights, 0o600))
	if err := os.Symlink(filepath.Join("cache", "real.bin"), name("w.bin")); err != nil {
		t.Skipf("this system makes no symbolic links (%v); run on Linux or macOS", err)
	}
	require.NoError(t, os.WriteFile(name("other.bin"), weights, 0o600))
	require.NoError(t, os.WriteFile(name("m.mil"), []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
        tensor<fp16, [4]> w = const()[
            val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
        tensor<fp16, [4]> y = add(x = x, y = w);
    } -> (y);
    func second<ios18>(tensor<fp16, [4]> v) {
        tensor<fp16, [4]> z = add(x = v,
            y = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/other.bin"), offset = uint64(64))));
    } -> (z);
}
`), 0o600))
	run := func(out string) (int, string) {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{"run", "--engine", "soft", "--mil", name("m.mil"), "--fill", "ones",
			"--out", "y=" + out}, &stdout, &stderr)
		return code, stderr.String()
	}
	for _, out := range []string{"w.bin", "cache/real.bin", "other.bin", "cache/../w.bin", "m.mil"} {
		code, message := run(name(out))
		require.Equal(t, cli.CodeUsage, code, "%s: %s", out, message)
		require.Contains(t, message, "is the file that", out)
	}
	for _, file := range []string{"cache/real.bin", "other.bin"} {
		got, err := os.ReadFile(name(file))
		require.NoError(t, err)
		require.Equal(t, weights, got)
	}
	code, message := run(name("y.npy"))
	require.Equal(t, cli.CodePass, code, message)
}

// A full disk is no bad input, and its hint is to free space; a folder that cannot be written is bad input.
func TestUncreated(t *testing.T) {
	for system, code := range map[error]int{
		syscall.ENOSPC: cli.CodeFail, syscall.EDQUOT: cli.CodeFail, syscall.EACCES: cli.CodeUsage, syscall.EROFS: cli.CodeUsage,
	} {
		err := cli.CreateError("--out y", &fs.PathError{Op: "create", Path: "y.npy", Err: system})
		require.Equal(t, code, cli.ExitCode(t.Context(), err), err)
		require.Equal(t, code == cli.CodeFail, strings.HasPrefix(cli.ErrorHint(err), "free space there"), err)
	}
}
