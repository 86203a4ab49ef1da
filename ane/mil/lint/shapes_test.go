package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
)

// flexible is a program of a flexible input with a FlexibleShapeInformation of parts.
func flexible(parts, body string) string {
	attribute := ""
	if parts != "" {
		attribute = `[FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, ` +
			`tuple<string, dict<string, dict<string, tensor<int32, [?]>>>>>((` + parts + `))]`
	}
	return "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1, 64, 1, ?]> x) " + attribute + " {\n" + body +
		"} -> (y);\n}"
}

// TestFlexibleShapes has what each compiler does with a range, an enumeration, and a shape without a default: one
// finding for the input, and none for the values that follow from it.
func TestFlexibleShapes(t *testing.T) {
	const (
		chain = "tensor<fp16, [1, 64, 1, ?]> a = relu(x = x);\ntensor<fp16, [1, 64, 1, ?]> y = abs(x = a);\n"
		norm  = "tensor<fp16, [1, 64, 1, ?]> y = layer_norm(x = x, axes = tensor<int32, [1]>([1]), " +
			"epsilon = fp16(1e-3));\n"
		std    = `("DefaultShapes", {{"x", [1, 64, 1, 128]}})`
		ranged = std + `, ("RangeDims", {{"x", [[1, 1], [64, 64], [1, 1], [32, -1]]}})`
		listed = std + `, ("EnumeratedShapes", {{"a", {{"x", [1, 64, 1, 128]}}}, {"b", {{"x", [1, 64, 1, 256]}}}})`
	)
	for name, c := range map[string]struct {
		text     string
		compiler chip.Compiler
		shapes   map[string][]int
		want     []string // severity and words
	}{
		"range, Core ML": {flexible(ranged, chain), chip.CoreML, nil, []string{"note: input x takes [1, 64, 1, " +
			"32..]; the engine runs the default shape, [1, 64, 1, 128], and the CPU or the GPU the others"}},
		"range, in memory": {flexible(ranged, chain), chip.InMemory, nil, []string{"warning: input x takes [1, 64, " +
			"1, 32..]; the in-memory compiler is known to take fixed shapes alone, and what follows is for " +
			"[1, 64, 1, 128]"}},
		"range, a shape of the caller": {flexible(ranged, chain), chip.E5, map[string][]int{"x": {1, 64, 1, 32}},
			[]string{"the e5 compiler is known to take fixed shapes alone, and what follows is for [1, 64, 1, 32]"}},
		"enumeration, Core ML": {flexible(listed, chain), chip.CoreML, nil, []string{"note: input x takes one of " +
			"[1, 64, 1, 128], [1, 64, 1, 256]; the engine runs each of them"}},
		"enumeration with layer_norm": {flexible(listed, norm), chip.CoreML, nil, []string{"note: input x takes " +
			"one of [1, 64, 1, 128], [1, 64, 1, 256]; the engine runs each of them, but a published model"}},
		"no default": {flexible("", chain), chip.CoreML, nil, []string{"error: input x has no default length for " +
			"axis 3 of tensor<fp16, [1, 64, 1, ?]> [dynamic-shape]; give --shape x=1,64,1,N"}},
		"no default, given": {flexible("", chain), chip.CoreML, map[string][]int{"x": {1, 64, 1, 2}}, []string{
			"warning: input x takes any shape; the program has no FlexibleShapeInformation, which the E5 runtime"}},
		"a shape out of the range": {flexible(ranged, chain), chip.InMemory, map[string][]int{"x": {1, 64, 1, 31}},
			[]string{"error: input x cannot take the shape [1, 64, 1, 31] [dynamic-shape]; axis 3 is at least 32",
				"what follows is for [1, 64, 1, 128]"}},
		"inner axes": {strings.Replace(flexible("", chain), "?]> x", "8]> x", 1), chip.InMemory, nil, []string{
			"note: function main leaves axes of 2 values open, whose lengths follow from its inputs"}},
		"inner axes, Core ML": {strings.Replace(flexible("", chain), "?]> x", "8]> x", 1), chip.CoreML, nil, nil},
		"functions": {strings.Replace(flexible(ranged, chain), "} -> (y);\n", "} -> (y);\nfunc b<ios18>(fp16 x) { "+
			"fp16 y = relu(x = x); } -> (y);\n", 1), chip.CoreML, nil, []string{
			"warning: a range in a program of 2 functions", "note: input x"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := lint.Text("", []byte(c.text), lint.Options{Chips: []chip.Chip{chip.M4}, Shapes: c.shapes,
				Compilers: []chip.Compiler{c.compiler}, Only: []string{"dynamic-shape", "types"}})
			require.Len(t, found, len(c.want), "%v", found)
			for i, want := range c.want {
				require.Contains(t, found[i].String(), want)
			}
		})
	}
}

// TestFlexibleLimits checks that the limits of the engine are those of the shape that was taken.
func TestFlexibleLimits(t *testing.T) {
	text := flexible(`("DefaultShapes", {{"x", [1, 64, 1, 128]}})`, "tensor<fp16, [1, 64, 1, ?]> y = relu(x = x);\n")
	for width, want := range map[int]int{128: 0, 1 << 20: 2} {
		found := lint.Text("", []byte(text), lint.Options{Chips: []chip.Chip{chip.M4}, Only: []string{"axis-length"},
			Shapes: map[string][]int{"x": {1, 64, 1, width}}})
		require.Len(t, found, want)
	}
}

// An empty slice of the default shape is an error where that shape is compiled, and through Core ML a warning if another
// shape of the range has none. Faults of every shape stay errors.
func TestFaultsOfTheDefaultShape(t *testing.T) {
	cut := func(begin string) string {
		return flexible(`("DefaultShapes", {{"x", [1, 64, 1, 1]}}), ("RangeDims", {{"x", [[1, 1], [64, 64], [1, 1], [1, 64]]}})`,
			"tensor<fp16, [1, 64, 1, ?]> y = slice_by_index(x = x, begin = tensor<int32, [4]>(["+begin+", 0, 0, 0]), "+
				"end = tensor<int32, [4]>([1, 64, 1, -1]));\n")
	}
	for _, c := range []struct {
		begin string
		by    chip.Compiler
		shape map[string][]int
		want  string
	}{
		{"0", chip.CoreML, nil, "warning: slice_by_index: end: the slice of axis 3 of x[1 64 1 1] is empty; so it is for " +
			"the default shape, x [1, 64, 1, 1]"},
		{"0", chip.InMemory, nil, "is empty [types]"},
		{"0", chip.CoreML, map[string][]int{"x": {1, 64, 1, 1}}, "is empty [types]"},
		{"1", chip.CoreML, nil, "is empty [types]"},
	} {
		var all []string
		for _, f := range lint.Text("", []byte(cut(c.begin)), lint.Options{Chips: []chip.Chip{chip.M4}, Shapes: c.shape,
			Compilers: []chip.Compiler{c.by}, Only: []string{"dynamic-shape", "types"}}) {
			all = append(all, f.String())
		}
		require.Contains(t, strings.Join(all, "\n"), c.want)
		require.Equal(t, strings.HasPrefix(c.want, "warning"), !strings.Contains(strings.Join(all, "\n"), "[types]"))
	}
}
