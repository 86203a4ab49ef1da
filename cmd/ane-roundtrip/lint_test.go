package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

const linted = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 64]> é, tensor<fp16, [1, 64, 1, 64]> a) {
    } -> (a);
}
`

// What --sarif prints is valid by the schema of SARIF 2.1.0: with findings, with edits, without places, and without
// findings.
func TestSARIFIsValid(t *testing.T) {
	dir := t.TempDir()
	unsorted := strings.NewReplacer("é", "b", "    } -> (a);", "        tensor<fp16, [1, 64, 1, 64]> y = gelu(x = "+
		"b); // ü\n"+
		"        tensor<fp16, [1, 64, 1, 64]> z = add(x = y, y = a);\n    } -> (z);").Replace(linted)
	for name, text := range map[string]string{"bad.mil": linted, "unsorted.mil": unsorted, "ended.mil": "program(1.3)\n",
		"many.mil": strings.Replace(unsorted, "} ->", strings.Repeat("fp16 k = const()[val = fp16(1)];\n",
			200)+"} ->", 1)} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		var out, errw bytes.Buffer
		require.Equal(t, cli.CodeFail, execute(t.Context(), []string{"lint", "--sarif", path}, &out, &errw), errw.String())
		r, err := sarif.FromBytes(out.Bytes())
		require.NoError(t, err)
		require.NoError(t, r.Validate(), out.String())
		require.NotEmpty(t, r.Runs[0].Results)
		for _, result := range r.Runs[0].Results {
			require.Equal(t, *result.RuleID, *r.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID)
		}
	}
}

// No line of lint is wider than COLUMNS, not even that of the program.
func TestLintFitsTheTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mil")
	long := strings.Replace(linted, "    } ->", "        tensor<fp16, [1, 64, 1, 64]> a_result_of_long_name = gelu(x = a)"+
		"[name = string(\"a_result_of_long_name_that_the_program_gives\")];\n    } ->", 1)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(long, "é", "b")), 0o600))
	for _, columns := range []int{60, 80, 100} {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		t.Chdir(filepath.Dir(path))
		var out, errw bytes.Buffer
		execute(t.Context(), []string{"lint", "m.mil"}, &out, &errw)
		require.Contains(t, out.String(), "a_result_of")
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), columns, line)
		}
	}
}

// Completion of --in names the inputs of the program that stands on the command line.
func TestLintCompletes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mil")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(linted, "é", "b", 1)), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{path, "--in", ""}, "b=\na=\n"},
		{[]string{"--in", ""}, ":"},
		{[]string{"--chip", "h1"}, "h16g"},
		{[]string{"--compiler", ""}, "coreml"},
		{[]string{"--explain", "gelu-m"}, "gelu-mode"},
	} {
		var out, errw bytes.Buffer
		execute(t.Context(), append([]string{"__complete", "lint"}, c.args...), &out, &errw)
		require.Contains(t, out.String(), c.want, "%v: %s", c.args, errw.String())
	}
}
