package schematest

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem/safetensors"
)

// strict returns the schema, changed so that it rejects every field that it does not describe.
func strict(t testing.TB) *jsonschema.Schema {
	text, err := os.ReadFile("../../ane-roundtrip-1.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
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

// valid validates one JSON object and returns it.
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
        tensor<fp16, [4]> w = const()[
            val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
        tensor<fp16, [4]> y = add(x = x, y = w)[name = string("y")];
    } -> (y);
}
`

// elsewhere is the status on another system than macOS, where it is 0.
func elsewhere(status int) int {
	if host.Apple {
		return 0
	}
	return status
}

// The command's JSON objects match the schema.
func TestCommandMatchesSchema(t *testing.T) {
	effort.SkipShort(t)
	leaktest.SkipEmulated(t)
	ane := filepath.Join(t.TempDir(), "ane-roundtrip")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", ane, "../..").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Run("commands", func(t *testing.T) { testCommands(t, ane) })
	t.Run("statistics", func(t *testing.T) { testStatistics(t, ane) })
}

// Every command prints a valid object with --json, on success and on failure.
func testCommands(t *testing.T, ane string) {
	s, dir := strict(t), t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(file("m.mil"), []byte(schemaProgram), 0o600))
	require.NoError(t, os.WriteFile(file("bad.mil"), []byte("program(1.3)\n{\n}}"), 0o600))
	require.NoError(t, os.WriteFile(file("a.json"), []byte(`{"NetworkStatusList": [{"Name": "main", "LiveInputList": [
		{"Name": "q", "Symbol": "q", "Type": "Float16",
		"Batches": 1, "Channels": 1, "Depth": 1, "Height": 1, "Width": 32, "RowStride": 64,
		"PlaneStride": 64, "DepthStride": 64, "BatchStride": 64}], "LiveOutputList": []}]}`), 0o600))
	var array bytes.Buffer
	require.NoError(t, npy.Write(&array, &npy.Array{Type: mil.FP16, Shape: []int{4},
		Data: []byte{0, 0x7e, 0, 0, 0, 0, 0, 0}}))
	require.NoError(t, os.WriteFile(file("x.npy"), array.Bytes(), 0o600))
	w, err := safetensors.Create(file("w.safetensors"), map[string]string{"format": "pt"})
	require.NoError(t, err)
	require.NoError(t, w.Add("odd", safetensors.U8, []int{3}, []byte{1, 2, 3}))
	require.NoError(t, w.Add("scalar", safetensors.F16, nil, []byte{0, 60}))
	require.NoError(t, w.Close())
	photo, err := os.Create(file("in.png"))
	require.NoError(t, err)
	require.NoError(t, png.Encode(photo, image.NewRGBA(image.Rect(0, 0, 60, 40))))
	require.NoError(t, photo.Close())
	_, err = decodertest.Write(dir, decodertest.Spec{})
	require.NoError(t, err)
	talk := []string{"generate", "--engine", engine.Soft, "--model", dir, "--max", "3"}
	actor := func(command string) []string {
		return []string{"actor", command, "--engine", engine.Soft, "--model", dir, "--max", "3"}
	}
	run := []string{"run", "--engine", engine.Soft, "--mil", file("m.mil"), "--fill-weights", "random:1"}
	seen := map[string]bool{}
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"check", "--engine", engine.Soft, "--repeat", "1"}},
		{1, []string{"check", "--engine", engine.Soft, "--repeat", "1", "--inject", "wrong-names"}},
		{0, []string{"check", "--engine", engine.Soft, "--repeat", "1", "--only", "identity/*"}},
		{0, []string{"check", "--engine", engine.Soft, "--repeat", "3", "--report", file("check.html")}},
		{0, append(run, "--fill", "ones", "--repeat", "2", "--report", file("run.html"))},
		{0, []string{"run", "--mil", file("m.mil"), "--fill-weights", "random:1", "--fill", "random:1", "--compare",
			"reference,m6", "--report", file("compare.json")}},
		{2, []string{"check", "--engine", "gpu"}},
		{2, []string{"--no-such-flag"}},
		{0, append(run, "--fill", "ones", "--repeat", "2")},
		{0, append(run, "--in", "x="+file("x.npy"), "--out", "y="+file("y.npy"))},
		{1, append(run, "--fill", "ones", "--expect", "y="+file("x.npy"))},
		{2, append(run, "--fill", "twos")},
		{2, []string{"run", "--engine", engine.Soft, "--mil", file("bad.mil")}},
		{0, []string{"image", "--engine", engine.Soft, "--filter", "blur", file("in.png"), file("out.png")}},
		{2, []string{"image", "--engine", engine.Soft, "--filter", "blurr", file("in.png"), file("out.png")}},
		{0, []string{"info", "--engine", engine.Soft}},
		{0, []string{"info", "--engine", engine.Soft, "--report", file("mac.json")}},
		{0, []string{"info", "--attributes", file("a.json")}},
		{2, []string{"info", "--attributes", file("m.mil")}},
		{0, []string{"inspect", file("m.mil")}},
		{2, []string{"inspect", file("bad.mil")}},
		{0, []string{"lint", file("m.mil")}},
		{1, []string{"lint", "--chip", "m1", "--os", "macos14", "--compiler", "e5,coreml", file("m.mil"), file("bad.mil")}},
		{0, []string{"lint", "--explain", "gelu-mode"}},
		{2, []string{"lint", "--chip", "m9", file("m.mil")}},
		{2, []string{"lint", "--explain", "gelu"}},
		{0, []string{"lint", "--fix", file("m.mil")}},
		{0, append(talk, "--tokens", "1,2", "--snapshot", file("talk"))},
		{0, append(talk, "--tokens", "1,2", "--snapshot", file("talk"), "--emulate", "m1", "--form", "compact")},
		{0, append(talk, "--tokens", "1", "--emulate", "m1", "--form", "engine")},
		{2, append(talk, "--tokens", "1,3", "--snapshot", file("talk"))},
		{2, append(talk, "--prompt", "x")},
		{0, append(actor("run"), "--tokens", "1,2")},
		{0, append(actor("freeze"), "--tokens", "1,2", "--snapshot", file("actor"))},
		{0, append(actor("thaw"), "--snapshot", file("actor"))},
		{2, append(actor("thaw"), "--snapshot", file("m.mil"))},
		{2, append(actor("run"), "--prompt", "x")},
		{0, []string{"weights", file("w.safetensors")}},
		{0, []string{"weights", "check", file("w.safetensors")}},
		{0, []string{"weights", "repack", file("w.safetensors"), file("x.safetensors")}},
		{2, []string{"weights", file("m.mil")}},
		{0, []string{"bench", "weights", "--max-mib", "64", "--rounds", "1"}},
		{2, []string{"bench", "weights", "--max-mib", "1"}},
		{0, []string{"generate", "--model", dir, "--plan", "--report", file("plan.html")}},
		{0, []string{"generate", "--model", dir, "--plan", "--form", "compact"}},
		{2, []string{"generate", "--model", dir, "--plan", "--chip", "m99"}},
		{0, []string{"bench", "generate", "--size", "tiny", "--restore", "24,60", "--prompt", "40", "--steps", "2"}},
		{2, []string{"bench", "generate", "--size", "huge"}},
		{0, []string{"bench", "growth", "--time", "1ms"}},
		{2, []string{"bench", "growth", "--subject", "tape"}},
		{0, []string{"cost", file("m.mil")}},
		{2, []string{"probe", "surfaces"}},
		{0, []string{"probe", "iosurface", "--equivalent", "--max-mib", "1"}},
		{elsewhere(3), []string{"probe", "iosurface", "--max-mib", "1"}},
		{0, []string{"cost", "--chip", "m1", "--idle-us", "1e7", file("m.mil")}},
		{2, []string{"cost", "--engines", "3", file("m.mil")}},
		{2, []string{"cost", file("bad.mil")}},
		{0, []string{"fmt", "-w", file("m.mil")}},
		{2, []string{"fmt", file("m.mil")}},
		{2, []string{"bench", "--engine", "gpu"}},
		{2, []string{"broker"}},
		{3, []string{"broker", "stats", "--socket", file("no-broker")}},
		{2, []string{"man"}},
		{2, []string{"schema"}},
		{2, []string{"completion", "bash"}},
	} {
		if first := !seen[c.args[0]]; !effort.Full() && (!first || c.args[0] == "bench") {
			continue // a process for each case, of which those of bench take seconds and hundreds of megabytes
		}
		seen[c.args[0]] = true
		var out, errw bytes.Buffer
		args := append(append([]string{}, c.args...), "--json")
		cmd := exec.CommandContext(t.Context(), ane, args...)
		cmd.Stdout, cmd.Stderr = &out, &errw
		_ = cmd.Run() // the exit code is checked below
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s%s", args, &out, &errw)
		doc := valid(t, s, out.Bytes())
		require.Len(t, doc["args"], len(args))
		if c.code != 0 {
			require.Equal(t, json.Number(string(rune('0'+c.code))), doc["error"].(map[string]any)["exit_code"])
		}
	}
}

// The statistics of a running broker are valid.
func testStatistics(t *testing.T, ane string) {
	if !host.Broker {
		t.Skip("the broker needs Linux")
	}
	dir := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(dir, 0o700))
	socket := filepath.Join(dir, "socket")
	broker := exec.CommandContext(t.Context(), ane, "broker", "--socket", socket, "--stay")
	require.NoError(t, broker.Start())
	var text []byte
	await.Until(t, "it answers", func() (ok bool) {
		var err error
		text, err = exec.CommandContext(t.Context(), ane, "broker", "stats", "--json", "--socket", socket).Output()
		return err == nil
	})
	doc := valid(t, strict(t), text)
	details := doc["details"].(map[string]any)
	require.Equal(t, socket, details["socket"])
	require.Len(t, details["budgets"], 4)
	require.NotEmpty(t, details["counters"])
	require.NoError(t, broker.Process.Signal(syscall.SIGTERM))
	require.NoError(t, broker.Wait())
}

// The committed report of bench is valid, since a new one takes long to measure. TestBenchReport of the
// command compares the fields of a new one with it.
func TestBenchReportMatchesSchema(t *testing.T) {
	text, err := os.ReadFile("../../testdata/bench.json")
	require.NoError(t, err)
	valid(t, strict(t), text)
}

// The committed report of an interrupted command is valid.
func TestInterruptReportMatchesSchema(t *testing.T) {
	text, err := os.ReadFile("../../testdata/interrupt.json")
	require.NoError(t, err)
	valid(t, strict(t), text)
}
