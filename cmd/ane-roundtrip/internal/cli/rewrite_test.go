package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fmt -w does not replace a file that another process changed after fmt read it.
func TestRewriteKeepsNewerText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mil")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	read, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, Rewrite(path, read, []byte("formatted"), "-w"))
	err = Rewrite(path, read, []byte("formatted again"), "-w")
	require.ErrorContains(t, err, "was changed while it was read; run the command again")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "formatted", string(got))
	require.NoError(t, os.Remove(path))
	require.Error(t, Rewrite(path, read, []byte("formatted"), "-w"), "rewrite does not create a deleted file")
	require.NoFileExists(t, path)
	null, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.ErrorContains(t, Rewrite(os.DevNull, null, nil, "-w"), "is not a regular file")
}

// What cannot be written is the fault of the system where a disk is full, and of the caller where a folder is closed;
// the message names the flag that asked for it.
func TestRewriteNamesItsFlag(t *testing.T) {
	var input BadInput
	require.ErrorAs(t, WriteError("full.mil", &fs.PathError{Op: "write", Path: "hidden", Err: syscall.ENOSPC}), &input)
	require.Equal(t, CodeFail, ExitCode(t.Context(), input))
	require.EqualError(t, input, "full.mil: no space left on device; free space there, or name another file")
	require.Equal(t, "free space there, or name another file", ErrorHint(input))
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere; run it as another user")
	}
	path := filepath.Join(t.TempDir(), "p.mil")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	read, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o555))
	defer func() { require.NoError(t, os.Chmod(filepath.Dir(path), 0o755)) }() // so that it can be removed
	err = Rewrite(path, read, []byte("new"), "--fix")
	require.ErrorContains(t, err, "leave --fix out, or make the file and its folder writable")
	require.Equal(t, CodeUsage, ExitCode(t.Context(), err))
}
