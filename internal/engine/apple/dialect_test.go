package apple_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/standin"
)

// old is a text in the old dialect, with an opset.
func old(opset string) string {
	return `program(1.0)
{
    func main<` + opset + `>(tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 32]> y = relu(x = x)[name = tensor<string, []>("y")];
    } -> (y);
}
`
}

// TestDialectOfTheSystem: macOS 12 to 14 read the old dialect. The engine reports it and prints trees in it; a text in
// the new one is refused with one error that has the rule and the fix.
func TestDialectOfTheSystem(t *testing.T) {
	const stateful = `program(1.3)
{
    func main<ios18>(state<tensor<fp16, [1, 64, 1, 32]>> s) {
        tensor<fp16, [1, 64, 1, 32]> y = read_state(input = s)[name = string("y")];
    } -> (y);
}
`
	mixed := strings.Replace(old("ios16"), "program(1.0)", "program(1.3)", 1)
	for profile, opsets := range map[string][]string{"15": {"ios15"}, "16.5": {"ios15", "ios16"},
		"17": {"ios15", "ios16", "ios17"}, "26": {"ios15", "ios16", "ios17"}, "27": {"ios16"}} {
		t.Run(profile, func(t *testing.T) {
			job := task{Options: standin.Options{Profile: profile}, Programs: 1}
			for _, opset := range opsets {
				job.Texts = append(job.Texts, old(opset))
			}
			job.Texts = append(job.Texts, string(text(fresh())), mixed)
			newest := len(opsets)
			if profile < "18" {
				job.Texts = append(job.Texts, stateful)
			}
			o := inChild(t, job)
			require.Empty(t, o.Left)
			if profile == "15" { // ios16, of the older known answer, is the opset of macOS 13
				require.True(t, o.Unavailable)
				return
			}
			require.Empty(t, o.Open)
			require.Empty(t, o.Compile)
			require.Equal(t, 1, o.Compiled)
			for _, err := range o.Texts[:newest] {
				require.Empty(t, err)
			}
			if profile > "18" {
				require.Equal(t, mil.NewText, o.Dialect)
				require.Empty(t, o.Texts[newest])
				require.Empty(t, o.Texts[newest+1])
				require.Empty(t, o.Notes)
				return
			}
			require.Equal(t, mil.OldText, o.Dialect)
			require.Equal(t, "ios16", o.Known)
			require.Contains(t, o.Notes, "printed in the old dialect of MIL, which this system's compiler reads")
			for i, err := range o.Texts[newest:] {
				require.Equal(t, []int{1, 1, 2}[i], o.Faults[newest+i], err)
				require.Contains(t, err, "text.mil:")
				require.Contains(t, err, "[opset-os]")
			}
			require.Contains(t, o.Texts[newest], "ane-roundtrip fmt --dialect old")
			require.Contains(t, o.Texts[newest+2], "text.mil:3:22: states are types of ios18")
		})
	}
}
