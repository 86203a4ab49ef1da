package apple_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/standin"
)

// dumps is the folder of recorded answers of real machines.
const dumps = "../../../testdata/dumps"

// oldSystem is no file, but a dump of a system whose compiler reads the old dialect of MIL.
const oldSystem = "macOS 14"

// TestStandInPassesSuiteOnDumps runs the suite on every dump of a working machine that
// changes the stand-in's answers. Each dump needs its own process, which can load only one
// framework.
func TestStandInPassesSuiteOnDumps(t *testing.T) {
	bridgetest.Build(t)
	effort.NeedsFull(t, "two seconds for each dump")
	for _, name := range []string{
		"m1-status-head", "m1-status-projector", "m1-status-target0", "ironmill-identity-1x4x1x4-fp16",
		"m1-hwx-two-procedures-420v", "h15g-26.3.1-qos-hints-attributes", "h15g-26.3.1-xpc-replies",
		"m5-26.3-qos-index-weights", "device-info", "method-encodings-27", "slots-and-loads", oldSystem,
	} {
		t.Run(name, func(t *testing.T) {
			file, err := filepath.Abs(filepath.Join(dumps, name+".json"))
			require.NoError(t, err)
			if name == oldSystem {
				file = filepath.Join(t.TempDir(), "old.json")
				require.NoError(t, os.WriteFile(file, []byte(`{"os": "macOS 14.5 (23F79)", "data": {}}`), 0o600))
			}
			require.FileExists(t, file)
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStandInPassesSuite$", "-test.v")
			cmd.Env = append(os.Environ(), standin.EnvDump+"="+file, "TEMP="+t.TempDir())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "--- PASS: TestStandInPassesSuite/values")
		})
	}
}

// refusing writes a dump of a framework that answers the first n calls of a stage with an
// error, or all if n is 0.
func refusing(t *testing.T, stage, domain string, code, n int) string {
	row := map[string]any{"stage": stage, "domain": domain, "code": code, "text": "refused"}
	if n > 0 {
		row["count"] = n
	}
	text, err := json.Marshal(map[string]any{"os": "macOS 14.5 (23F79)", "data": map[string]any{"errors": []any{row}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d.json", stage, n))
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// TestKnownProgramHasOlderForm: if the compiler rejects the ios18 form of the known-answer
// program, the engine uses the ios16 form, as on macOS 13 and 14.
func TestKnownProgramHasOlderForm(t *testing.T) {
	const domain = "com.apple.appleneuralengine.compiler"
	o := inChild(t, task{Options: standin.Options{Dump: refusing(t, "compile", domain, 1, 1)}, Programs: 1})
	require.Empty(t, o.Open)
	require.Equal(t, "ios16", o.Known)
	require.Equal(t, 1, o.Compiled)
	require.Len(t, o.Met, 1)
	require.True(t, o.Met[0].Recovered)

	// A compiler that rejects both.
	o = inChild(t, task{Options: standin.Options{Dump: refusing(t, "compile", domain, 1, 0)}})
	require.True(t, o.Unavailable)
	require.Contains(t, o.Open, "known-ios18.mil")
	require.Len(t, o.Met, 2)
	require.False(t, o.Met[0].Recovered)

	// After an error that is not about the text, the engine tries no other form.
	o = inChild(t, task{Options: standin.Options{Dump: refusing(t, "compile", "com.apple.appleneuralengine", 10, 0)}})
	require.True(t, o.Unavailable)
	require.Equal(t, "ios18", o.Known)
}

// TestCancelledRunsAreRetried: the engine retries cancelled runs, up to eight times.
func TestCancelledRunsAreRetried(t *testing.T) {
	dump := func(n int) string {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("cancelled-%d.json", n))
		text := fmt.Sprintf(`{"os": "macOS 27.0 beta", "data": {"errors": [{"stage": "evaluate", "domain": "com.apple.appleneuralengine", "code": 8,
		 "text": "status=0x12 : statusType=0x9: Request cancelled", "count": %d}]}}`, n)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	o := inChild(t, task{Options: standin.Options{Dump: dump(8)}, Programs: 1})
	require.Empty(t, o.Open)
	require.Len(t, o.Met, 1)
	require.True(t, o.Met[0].Recovered)
	require.Equal(t, 8, o.Met[0].Count)
	require.EqualValues(t, 0x12, o.Met[0].Err.Status)
	o = inChild(t, task{Options: standin.Options{Dump: dump(0)}})
	require.True(t, o.Unavailable)
	require.Contains(t, o.Open, "cancelled by the engine")
}
