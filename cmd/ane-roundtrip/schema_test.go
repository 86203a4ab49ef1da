package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/membench"
)

// strict returns the schema with every field forbidden that it does not name, so that a
// field without a description fails a test.
func strict(t testing.TB) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	require.NoError(t, err)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, given := v["additionalProperties"]; v["type"] == "object" && v["properties"] != nil && !given {
				v["additionalProperties"] = false
			}
			for _, sub := range v {
				walk(sub)
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		}
	}
	walk(doc)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// valid holds one JSON object against the schema and returns it.
func valid(t testing.TB, s *jsonschema.Schema, text []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc map[string]any
	require.NoError(t, d.Decode(&doc), "%s", text)
	require.False(t, d.More(), "more than one object: %s", text)
	require.NoError(t, s.Validate(doc), "%s", text)
	return doc
}

const schemaProgram = `program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
        tensor<fp16, [4]> w = const()[val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
        tensor<fp16, [4]> y = add(x = x, y = w)[name = string("y")];
    } -> (y);
}
`

// What every command prints with --json, in success and failure, is what the schema says.
func TestJSONKeepsToItsSchema(t *testing.T) {
	s, dir := strict(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(file("m.mil"), []byte(schemaProgram), 0o600))
	require.NoError(t, os.WriteFile(file("bad.mil"), []byte("program(1.3)\n{\n}}"), 0o600))
	require.NoError(t, os.WriteFile(file("a.json"), []byte(`{"NetworkStatusList": [{"Name": "main", "LiveInputList": [
		{"Name": "q", "Symbol": "q", "Type": "Float16", "Batches": 1, "Channels": 1, "Depth": 1, "Height": 1, "Width": 32,
		"RowStride": 64, "PlaneStride": 64, "DepthStride": 64, "BatchStride": 64}], "LiveOutputList": []}]}`), 0o600))
	require.NoError(t, npy.WriteFile(file("x.npy"), &npy.Array{Kind: npy.Float16, Shape: []int{4}, Data: []byte{0, 0x7e, 0, 0, 0, 0, 0, 0}}))
	photo, _ := photograph(t, dir)
	run := []string{"run", "--engine", engine.Soft, "--mil", file("m.mil"), "--fill-weights", "random:1"}
	for _, c := range []struct {
		code int
		args []string
	}{
		{codePass, []string{"check", "--engine", engine.Soft, "--iterations", "1"}},
		{codeFail, []string{"check", "--engine", engine.Soft, "--iterations", "1", "--inject", "wrong-names"}},
		{codePass, []string{"check", "--engine", engine.Soft, "--iterations", "1", "--only", "identity/*"}},
		{codeUsage, []string{"check", "--engine", "gpu"}},
		{codeUsage, []string{"--no-such-flag"}},
		{codePass, append(run, "--fill", "ones", "--repeat", "2")},
		{codePass, append(run, "--in", "x="+file("x.npy"), "--out", "y="+file("y.npy"))},
		{codeFail, append(run, "--fill", "ones", "--expect", "y="+file("x.npy"))},
		{codeUsage, append(run, "--fill", "twos")},
		{codeUsage, []string{"run", "--engine", engine.Soft, "--mil", file("bad.mil")}},
		{codePass, []string{"image", "--engine", engine.Soft, "--filter", "blur", photo, file("out.png")}},
		{codeUsage, []string{"image", "--engine", engine.Soft, "--filter", "blurr", photo, file("out.png")}},
		{codePass, []string{"info", "--engine", engine.Soft}},
		{codePass, []string{"info", "--engine", engine.Soft, "--report", file("mac.json")}},
		{codePass, []string{"info", "--attributes", file("a.json")}},
		{codeUsage, []string{"info", "--attributes", file("m.mil")}},
		{codePass, []string{"inspect", file("m.mil")}},
		{codeUsage, []string{"inspect", file("bad.mil")}},
		{codePass, []string{"fmt", "-w", file("m.mil")}},
		{codeUsage, []string{"fmt", file("m.mil")}},
		{codeUsage, []string{"bench", "--engine", "gpu"}},
		{codeUsage, []string{"broker"}},
		{codeUsage, []string{"man"}},
		{codeUsage, []string{"schema"}},
		{codeUsage, []string{"completion", "bash"}},
	} {
		var out, errw bytes.Buffer
		args := append(append([]string{}, c.args...), "--json")
		require.Equal(t, c.code, execute(t.Context(), args, &out, &errw), "%v: %s%s", args, &out, &errw)
		doc := valid(t, s, out.Bytes())
		require.Len(t, doc["args"], len(args))
		if c.code != codePass {
			require.Equal(t, json.Number(string(rune('0'+c.code))), doc["error"].(map[string]any)["exit_code"])
		}
	}
}

// An interrupt ends every command with its object.
func TestInterruptsKeepToTheSchema(t *testing.T) {
	s := strict(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"check"}, {"info"}, {"bench"}, {"info", "--report", filepath.Join(t.TempDir(), "r.json")}} {
		var out, errw bytes.Buffer
		args = append(args, "--json", "--engine", engine.Soft)
		require.Equal(t, codeInterrupted, execute(ctx, args, &out, &errw), "%v: %s", args, &errw)
		doc := valid(t, s, out.Bytes())
		require.Equal(t, args[0], doc["command"])
		require.Equal(t, "interrupted", doc["error"].(map[string]any)["message"])
	}
}

// bench prints what the schema says; the figures decide nothing here.
func TestBenchKeepsToTheSchema(t *testing.T) {
	if runtime.GOOS == "linux" {
		leaktest.SkipEmulated(t)
	}
	cases := membench.Cases()[:1]
	broken := membench.Case{Name: "Broken", Operation: "cannot run", MaxRatio: 1, Run: func(b *testing.B) { b.FailNow() }, Floor: cases[0].Floor}
	for _, args := range [][]string{{"--json"}, {}} {
		var out, errw bytes.Buffer
		a := newApp(append([]string{"bench"}, args...), &out, &errw)
		a.engine = engine.Soft
		plan := benchPlan{cases: append(cases[:1:1], broken), sizes: []int{4 << 10}, rounds: 2, time: time.Millisecond}
		err := a.conclude(t.Context(), a.bench(t.Context(), plan))
		require.ErrorContains(t, err, "1 step could not run: cannot run")
		if len(args) == 0 {
			require.Contains(t, out.String(), "Tape take")
			require.Contains(t, out.String(), "cannot run: skipped: ")
			require.Contains(t, out.String(), "verdict: fail")
			continue
		}
		doc := valid(t, strict(t), out.Bytes())
		require.Equal(t, verdictFail, doc["verdict"])
		details := doc["details"].(map[string]any)
		require.Len(t, details["operations"], 1)
		require.Len(t, details["sizes"], 1)
	}
}
