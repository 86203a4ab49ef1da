package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
)

// An operator that no source tried is no refusal: the finding says so, and claims no measurement. mod was refused.
func TestOperatorsThatWereNotTried(t *testing.T) {
	calls := map[string]string{
		"classify": "string c, dict<string, fp64> y = classify(probabilities = x, " +
			`classes = list<string, 3>(("a", "b", "c")))`,
		"asinh": "tensor<fp16, [3]> y = asinh(x = x)",
		"list_length": `list<tensor<fp16, [3]>, 1> l = make_list(elem_shape = (int32(3)), dtype = string("fp16"));` + "\n" +
			"int32 y = list_length(ls = l)",
		"mod": "tensor<fp16, [3]> y = mod(x = x, y = x)",
	}
	for kind, call := range calls {
		text := fn("tensor<fp16, [3]> x", call+`[name = string("y")];`, "y")
		for _, by := range []chip.Compiler{chip.InMemory, chip.E5} {
			n := 0
			for _, f := range lint.Text("p.mil", []byte(text), lint.Options{Compilers: []chip.Compiler{by}}) {
				switch {
				case f.Rule.ID != "refused-operator":
				case kind == "mod":
					n++
					require.Equal(t, lint.Error, f.Severity)
					require.Contains(t, f.Source, "measured")
				default:
					n++
					require.Equal(t, lint.Warning, f.Severity, "%v", &f)
					require.Contains(t, f.Message, "was not tried")
					require.Contains(t, f.Source, "inferred: ")
					require.NotContains(t, f.Source, "measured")
				}
			}
			require.NotZero(t, n, "%s %v\n%s", kind, by, text)
		}
	}
}
