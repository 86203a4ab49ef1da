//go:build !macrules

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
)

// said runs a command of actor and returns the tokens of its JSON object.
func said(t *testing.T, run func(args []string) []byte, args ...string) []int {
	t.Helper()
	var object struct{ Tokens []int }
	out := run(append(append([]string{"actor"}, args...), "--json", "--engine", "soft"))
	require.NoError(t, json.Unmarshal(out, &object), "%s", out)
	return object.Tokens
}

// An actor that was frozen on amd64 goes on under arm64, with equal tokens in the numerics of a chip.
func TestActorsGoOnOnAnotherProcessor(t *testing.T) {
	effort.NeedsFull(t, "a build for another processor")
	const emulator = "qemu-aarch64-static"
	if _, err := exec.LookPath(emulator); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("needs an amd64 machine with " + emulator + ": install the Debian package qemu-user-static")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command in PATH to build for arm64: install Go")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "ane-roundtrip")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	here := func(args []string) []byte {
		var out, errw bytes.Buffer
		require.Zero(t, execute(context.Background(), args, &out, &errw), "%s", &errw)
		return out.Bytes()
	}
	there := func(args []string) []byte {
		cmd := exec.Command(emulator, append([]string{program}, args...)...)
		var errw bytes.Buffer
		cmd.Stderr = &errw
		out, err := cmd.Output()
		require.NoError(t, err, "%s%s", out, &errw)
		return out
	}
	model, file := filepath.Join(dir, "model"), filepath.Join(dir, "actor")
	require.NoError(t, os.Mkdir(model, 0o700))
	_, err = decodertest.Write(model, decodertest.Spec{Family: decodertest.Llama3, Seed: 6, Bits: 4,
		Config: map[string]any{"eos_token_id": nil}})
	require.NoError(t, err)
	common := []string{"--model", model, "--numerics", "m6"}
	draws := append([]string{"--tokens", "1,5,7,9", "--temperature", "1.5", "--top-p", "0.9"}, common...)
	whole := said(t, here, append([]string{"run", "--max", "16"}, draws...)...)
	require.Len(t, whole, 16)
	freeze := []string{"freeze", "--snapshot", file, "--max"}
	require.Equal(t, whole[:6], said(t, here, append(append(freeze, "6"), draws...)...))
	thaw := append([]string{"thaw", "--max", "10", "--snapshot", file}, common...)
	require.Equal(t, whole[6:], said(t, here, thaw...))
	require.Equal(t, whole[6:], said(t, there, thaw...))
	require.Equal(t, whole[6:10], said(t, there, append(append(freeze, "4"), common...)...))
	thaw[2] = "6"
	require.Equal(t, whole[10:], said(t, here, thaw...), "and back")
}

// TestFreezeReplacesSnapshotsAlone: freeze refuses the files of the model and of anybody else before it computes.
func TestFreezeReplacesSnapshotsAlone(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen2, Seed: 1})
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "letter")
	require.NoError(t, os.WriteFile(other, []byte("Dear reader"), 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(filepath.Join(dir, "model.safetensors"), link))
	freeze := func(file, tokens string) (int, string) {
		var out, errw bytes.Buffer
		code := execute(t.Context(), []string{"actor", "freeze", "--model", dir, "--tokens", "1,2", "--max", tokens,
			"--snapshot", file}, &out, &errw)
		return code, errw.String()
	}
	for _, file := range []string{filepath.Join(dir, "config.json"), filepath.Join(dir, "model.safetensors"), other,
		link, dir} {
		before, _ := os.ReadFile(file)
		code, said := freeze(file, "2")
		require.Equal(t, cli.CodeUsage, code, file)
		require.Contains(t, said, "is not a snapshot of an actor, so it is not replaced")
		after, _ := os.ReadFile(file)
		require.Equal(t, before, after)
	}
	file := filepath.Join(t.TempDir(), "actor")
	for range 2 { // the second one replaces the first
		code, said := freeze(file, "2")
		require.Zero(t, code, said)
	}
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	link = filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(file, link))
	code, told := freeze(link, "3")
	require.Zero(t, code, told)
	target, err := os.Readlink(link)
	require.NoError(t, err, "the link stays")
	require.Equal(t, file, target)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEqual(t, before, after)
}
