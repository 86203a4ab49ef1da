package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/models/decoder"
)

// randomModel writes a small model that never ends a text.
func randomModel(t *testing.T, spec decodertest.Spec) string {
	dir := t.TempDir()
	if spec.Config == nil {
		spec.Config = map[string]any{"eos_token_id": nil}
	}
	_, err := decodertest.Write(dir, spec)
	require.NoError(t, err)
	return dir
}

// newTokens runs generate in this process and returns the tokens of its JSON object.
func newTokens(t *testing.T, args ...string) []int {
	var out, errw bytes.Buffer
	code := execute(t.Context(), append([]string{"generate", "--json"}, args...), &out, &errw)
	require.Zero(t, code, "%s", &errw)
	var r struct {
		Tokens []int `json:"tokens"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	return r.Tokens
}

// A snapshot through a symbolic link replaces the target and keeps the link.
func TestSnapshotsBehindALinkStayThere(t *testing.T) {
	model, dir := randomModel(t, decodertest.Spec{Seed: 9}), t.TempDir()
	file, link := filepath.Join(dir, "talk"), filepath.Join(dir, "link")
	flags := []string{"--model", model, "--tokens", "1,5", "--max", "2", "--engine", engine.Soft, "--snapshot"}
	newTokens(t, append(flags, file)...)
	if err := os.Symlink("talk", link); err != nil {
		t.Skip(err)
	}
	newTokens(t, append(flags, link)...)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
	talk, err := decoder.PeekFile(file)
	require.NoError(t, err)
	require.Len(t, talk.Answer, 4)
}

// generate is killed after some token, many times. The snapshot is always whole, and the tokens are those of a
// run that nothing interrupted.
func TestKilledConversationsGoOn(t *testing.T) {
	leaktest.SkipEmulated(t)
	const all = 150
	exe, err := os.Executable()
	require.NoError(t, err)
	model := randomModel(t, decodertest.Spec{Seed: 9, Bits: 4})
	r := rand.New(rand.NewPCG(7, 8))
	for _, kind := range []string{engine.Soft, engine.Broker} {
		if kind == engine.Broker && !brokertest.Here() {
			continue
		}
		flags := []string{"--model", model, "--tokens", "1,5,7,9", "--temperature", "2", "--seed", "3"}
		whole := newTokens(t, append(flags, "--engine", engine.Soft, "--max", strconv.Itoa(all))...)
		require.Len(t, whole, all)
		snapshot := filepath.Join(t.TempDir(), "talk")
		flags = append(flags, "--engine", kind, "--snapshot", snapshot)
		// peek checks the whole snapshot, without changing it, and returns how many tokens its answer has.
		peek := func() int {
			if _, err := os.Stat(snapshot); err != nil {
				require.ErrorIs(t, err, os.ErrNotExist)
				return 0
			}
			talk, err := decoder.PeekFile(snapshot)
			require.NoError(t, err)
			require.Equal(t, whole[:len(talk.Answer)], append([]int{}, talk.Answer...))
			require.Empty(t, newTokens(t, append(slices.Clone(flags), "--max", "0")...))
			return len(talk.Answer)
		}
		kills := 0
		for range 100 {
			done := peek()
			if done >= all-1 && kills <= 2 { // it was quicker than the kills: begin again
				require.NoError(t, os.Remove(snapshot))
				done = 0
			}
			if done >= all-1 || kills == 12 {
				break
			}
			cmd := exec.Command(exe, append([]string{"generate", "--max", strconv.Itoa(all - done)}, flags...)...)
			cmd.Args[0] = "ane-roundtrip"
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			words := bufio.NewScanner(out)
			words.Split(bufio.ScanWords)
			for range 1 + r.IntN(70) {
				if !words.Scan() {
					break
				}
			}
			require.NoError(t, cmd.Process.Kill())
			for words.Scan() { // what was printed before the kill
			}
			if cmd.Wait() != nil { // else it had ended by itself
				kills++
			}
		}
		require.Greater(t, kills, 2)
		done := peek()
		rest := newTokens(t, append(flags, "--max", strconv.Itoa(all-done))...)
		require.Equal(t, whole[done:], rest, kind)
	}
}

// Each fault is one line on standard error, and status 2.
func TestFaultsOfGenerateAreOneLine(t *testing.T) {
	nan := func(name string, values []float64) {
		if strings.HasSuffix(name, "k_proj.weight") {
			values[0] = math.NaN()
		}
	}
	for _, c := range []struct {
		spec decodertest.Spec
		args []string
		want string
	}{
		{decodertest.Spec{Config: map[string]any{"hidden_size": 128}}, nil, "model.embed_tokens.weight"},
		{decodertest.Spec{Config: map[string]any{"architectures": []string{"X"}}}, nil, `"X"`},
		{decodertest.Spec{Config: map[string]any{"hidden_act": "relu"}}, nil, "relu"},
		{decodertest.Spec{Config: map[string]any{"rope_scaling": map[string]any{"type": "x", "factor": 2}}}, nil, `"x"`},
		{decodertest.Spec{Leave: "model.norm.weight"}, nil, "model.norm.weight"},
		{decodertest.Spec{Weights: nan}, nil, "k_proj.weight"},
		{decodertest.Spec{}, []string{"--tokens", "4096"}, "4096"},
		{decodertest.Spec{}, []string{"--prompt", "x"}, "tokenizer.json"},
		{decodertest.Spec{}, []string{"--tokens", "1", "--max", "512"}, "512 positions"},
	} {
		var out, errw bytes.Buffer
		args := c.args
		if args == nil {
			args = []string{"--tokens", "1,2"}
		}
		args = append([]string{"generate", "--engine", engine.Soft, "--model", randomModel(t, c.spec)}, args...)
		require.Equal(t, cli.CodeUsage, execute(t.Context(), args, &out, &errw), "%s: %s", c.want, &errw)
		require.Empty(t, out.String())
		require.Contains(t, errw.String(), c.want)
		require.Equal(t, 1, strings.Count(errw.String(), "\n"), "%s", &errw)
	}
}
