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

// The results of classify are what the program calls them, and no source tried them.
func TestLabelsAreNoSurfaces(t *testing.T) {
	for _, class := range []string{"string", "int64"} {
		list := map[string]string{"string": `("a", "b", "c")`, "int64": "(1, 2, 3)"}[class]
		text := fn("tensor<fp16, [3]> x", class+" c, dict<"+class+", fp64> y = classify(probabilities = x, classes = list<"+
			class+", 3>("+list+`))[name = string("y")];`, "c, y")
		for _, by := range []chip.Compiler{chip.InMemory, chip.E5} {
			var found []string
			for _, f := range lint.Text("p.mil", []byte(text), lint.Options{Compilers: []chip.Compiler{by}}) {
				require.NotEqual(t, "types", f.Rule.ID, "%v", &f)
				if f.Rule.ID == "io-type" {
					require.Equal(t, lint.Warning, f.Severity)
					require.NotContains(t, f.Source, "measured")
					found = append(found, f.Message)
				}
			}
			require.Equal(t, []string{"output c is " + class, "output y is dict<" + class + ", fp64>"}, found)
		}
	}
}

// That names are shared was met in memory: through Core ML nothing is said.
func TestSharedNamesRoads(t *testing.T) {
	for _, by := range chip.Compilers() {
		found := false
		for _, f := range lint.Text("p.mil", []byte(twoFunctions("x", "x")), lint.Options{Compilers: []chip.Compiler{by}}) {
			found = found || f.Rule.ID == "shared-names"
		}
		require.Equal(t, by != chip.CoreML, found, "%v", by)
	}
}
