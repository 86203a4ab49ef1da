package shapes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/shapes"
)

// flexible is the attribute of a function, in the dialect of ios16 or in that of ios18.
func flexible(boxed bool, parts ...string) string {
	text := strings.Join(parts, ", ")
	if boxed {
		return `[FlexibleShapeInformation = tuple<tuple<tensor<string, []>, dict<tensor<string, []>, ` +
			`tensor<int32, [?]>>>, tuple<tensor<string, []>, dict<tensor<string, []>, dict<tensor<string, []>, ` +
			`tensor<int32, [?]>>>>>((` + text + `))]`
	}
	return `[FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, ` +
		`dict<string, list<tensor<int32, [2]>, ?>>>>((` + text + `))]`
}

const (
	defaultA = `("DefaultShapes", {{"a", [1, 4]}})`
	rangeA   = `("RangeDims", {{"a", [[1, 1], [2, 8]]}})`
	listed   = `("EnumeratedShapes", {{"s", {{"a", [1, 4]}, {"b", [4]}}}, {"t", {{"a", [1, 6]}, {"b", [6]}}}})`
	defaults = `("DefaultShapes", {{"a", [1, 4]}, {"b", [4]}})`
)

// program returns a function main, where V stands for tensor<fp16.
func program(params, attribute, body, result string) string {
	text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%s) %s {\n%s} -> (%s);\n}", params, attribute, body, result)
	return strings.ReplaceAll(text, "V[", "tensor<fp16, [")
}

// types returns the declarations of all values, one in each line.
func types(p *mil.Program) string {
	var lines []string
	for _, f := range p.Funcs {
		all := f.Params
		for _, op := range f.Body {
			all = append(all, op.Results...)
		}
		for _, v := range all {
			lines = append(lines, v.Name+" "+strings.TrimPrefix(v.Type.String(), "tensor"))
		}
	}
	return strings.Join(lines, "\n")
}

func TestFix(t *testing.T) {
	relu := "V[1, ?]> y = relu(x = a);\n"
	for name, c := range map[string]struct {
		text            string
		given, defaults map[string][]int
		want            string // types, or the error
		from            []string
	}{
		"the default": {text: program("V[1, ?]> a", flexible(false, defaultA, rangeA), relu, "y"),
			want: "a <fp16, [1, 4]>\ny <fp16, [1, 4]>", from: []string{"a [1, 4] the default of the program"}},
		"the other dialect": {text: program("V[1, ?]> a", flexible(true, defaultA, listed), relu, "y"),
			want: "a <fp16, [1, 4]>\ny <fp16, [1, 4]>", from: []string{"a [1, 4] the default of the program"}},
		"given": {text: program("V[1, ?]> a", flexible(false, defaultA, rangeA), relu, "y"),
			given: map[string][]int{"a": {1, 8}}, want: "a <fp16, [1, 8]>\ny <fp16, [1, 8]>",
			from: []string{"a [1, 8] as given"}},
		"of the model": {text: program("V[1, ?]> a", "", relu, "y"),
			defaults: map[string][]int{"a": {1, 3}, "image": {1}}, want: "a <fp16, [1, 3]>\ny <fp16, [1, 3]>",
			from: []string{"a [1, 3] the default of the model"}},
		"none": {text: program("V[1, ?]> a", "", relu, "y"),
			want: "p.mil:3:18: input a has no default length for axis 1 of tensor<fp16, [1, ?]>; " +
				"give --shape a=1,N with numbers for the letters"},
		"above the range": {text: program("V[1, ?]> a", flexible(false, defaultA, rangeA), relu, "y"),
			given: map[string][]int{"a": {1, 9}}, want: "p.mil:3:18: input a cannot take the shape [1, 9]; " +
				"axis 1 is from 2 to 8: give --shape a within that"},
		"no end of the range": {text: program("V[1, ?]> a", flexible(false, defaultA,
			`("RangeDims", {{"a", [[1, 1], [5, -1]]}})`), relu, "y"), given: map[string][]int{"a": {1, 4}},
			want: "p.mil:3:18: input a cannot take the shape [1, 4]; axis 1 is at least 5: give --shape a within that"},
		"not listed": {text: program("V[1, ?]> a", flexible(true, defaultA, listed), relu, "y"),
			given: map[string][]int{"a": {1, 5}}, want: "p.mil:3:18: input a cannot take the shape [1, 5]; " +
				"give --shape a=1,4 or a=1,6"},
		"another rank": {text: program("V[1, ?]> a", flexible(false, defaultA), relu, "y"),
			given: map[string][]int{"a": {4}}, want: "p.mil:3:18: input a cannot take the shape [4]; its type is " +
				"tensor<fp16, [1, ?]>: give --shape a=1,N with numbers for the letters"},
		"a length of 0": {text: program("V[1, ?]> a", flexible(false, defaultA), relu, "y"),
			given: map[string][]int{"a": {1, 0}}, want: "p.mil:3:18: input a cannot take the shape [1, 0]; its type " +
				"is tensor<fp16, [1, ?]>: give --shape a=1,N with numbers for the letters"},
		"no such input": {text: program("V[1, ?]> a", flexible(false, defaultA), relu, "y"),
			given: map[string][]int{"x": {4}}, want: "p.mil:3:6: function main has no input x, which is to take the " +
				"shape [4]; give --shape for one of a"},
		"a fixed input": {text: program("V[1, 2]> a", "", "V[1, 2]> y = relu(x = a);\n", "y"),
			given: map[string][]int{"a": {1, 3}}, want: "p.mil:3:18: input a cannot take the shape [1, 3]; its type " +
				"is tensor<fp16, [1, 2]>: give --shape a=1,2"},
		"one enumeration": {text: program("V[1, ?]> a, V[?]> b", flexible(true, defaults, listed),
			"V[1, ?]> y = add(x = a, y = b);\n", "y"), given: map[string][]int{"b": {6}},
			want: "a <fp16, [1, 6]>\nb <fp16, [6]>\ny <fp16, [1, 6]>",
			from: []string{"b [6] as given", "a [1, 6] which the program lists with those given"}},
		"two enumerations": {text: program("V[1, ?]> a, V[?]> b", flexible(true, defaults, listed),
			"V[1, ?]> y = add(x = a, y = b);\n", "y"), given: map[string][]int{"a": {1, 4}, "b": {6}},
			want: "p.mil:3:18: input a cannot take the shape [1, 4]; the shapes of several inputs are of one " +
				"enumeration: give --shape a=1,4 or a=1,6"},
		"names": {text: program("V[1, n]> a, V[n]> b", flexible(true, `("DefaultShapes", {{"a", [1, 4]}})`),
			"V[m, n]> y = add(x = a, y = b);\nV[m]> z = squeeze(x = y, axes = tensor<int32, [1]>([1]));\n", "y"),
			given: map[string][]int{"b": {1}}, want: "a <fp16, [1, 1]>\nb <fp16, [1]>\ny <fp16, [1, 1]>\nz <fp16, [1]>",
			from: []string{"b [1] as given", "a [1, 1] the default of the program"}},
		"names that differ": {text: program("V[1, n]> a, V[n]> b", "", "V[1, n]> y = add(x = a, y = b);\n", "y"),
			given: map[string][]int{"a": {1, 4}, "b": {5}}, want: "p.mil:3:42: input b cannot take the shape " +
				"[5]; its type is tensor<fp16, [n]>: give --shape b=4"},
		"inner axes": {text: program("V[1, 3]> a", "", relu, "y"), want: "a <fp16, [1, 3]>\ny <fp16, [1, 3]>"},
		"a fault": {text: program("V[1, 3]> a", "", "V[?]> y = reshape(x = a, shape = tensor<int32, [1]>([4]));\n",
			"y"),
			want: "p.mil:4:46: reshape: shape: [4] does not have the 3 elements of x[1 3]; make the number " +
				"of elements equal"},
		"an unknown operator": {text: program("V[1, 3]> a", "", "V[?]> y = frobnicate(x = a);\n", "y"),
			want: "p.mil:4:1: the lengths of y tensor<fp16, [?]> do not follow from its operands; " +
				"write the lengths of its axes in the program"},
		"a state": {text: program("state<tensor<fp16, [n, 2]>> s, V[n, 2]> a", "",
			"V[?, 2]> r = read_state(input = s);\nV[n, ?]> y = add(x = r, y = a);\n", "y"),
			given: map[string][]int{"a": {3, 2}}, want: "s state<tensor<fp16, [3, 2]>>\na <fp16, [3, 2]>\n" +
				"r <fp16, [3, 2]>\ny <fp16, [3, 2]>",
			from: []string{"a [3, 2] as given", "s [3, 2] by the names of its axes"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := mil.ParseTree("p.mil", []byte(c.text))
			require.NoError(t, err)
			before := types(p)
			fixed, taken, err := shapes.Fix("p.mil", p, "", c.given, c.defaults)
			require.Equal(t, before, types(p), "the program is not changed")
			if err != nil {
				require.Equal(t, c.want, err.Error())
				require.ErrorAs(t, err, &mil.ErrorList{})
				return
			}
			require.Equal(t, c.want, types(fixed))
			var from []string
			for _, s := range taken {
				require.Equal(t, "main", s.Function)
				from = append(from, s.Input+" "+shapes.Text(s.Shape)+" "+s.From)
			}
			require.Equal(t, c.from, from)
			again, taken, err := shapes.Fix("p.mil", fixed, "", nil, nil)
			require.NoError(t, err)
			require.Same(t, fixed, again)
			require.Empty(t, taken)
		})
	}
}

// TestFixCostsNothing checks that a program without open axes stays what it is, without allocations.
func TestFixCostsNothing(t *testing.T) {
	p, err := mil.ParseTree("", []byte(program("V[1, 3]> a", "", "V[1, 3]> y = relu(x = a);\n", "y")))
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if fixed, _, err := shapes.Fix("", p, "", nil, nil); fixed != p || err != nil {
			t.Error(err)
		}
	}))
}

// TestFixBlocks checks that the lengths follow through the blocks of a loop, whose variables are of its results' types.
func TestFixBlocks(t *testing.T) {
	p, err := mil.ParseTree("p.mil", []byte(program("V[?, 2]> x", "", `
int32 n, V[?, ?]> y = while_loop(loop_vars = (int32(0), x))
	test(int32 k, V[?, 2]> a) { bool m = less(x = k, y = int32(3)); } -> (m)
	step(int32 k, V[?, ?]> a) { int32 j = add(x = k, y = int32(1)); V[?, ?]> b = add(x = a, y = x); } -> (j, b);
V[2, ?]> z = transpose(x = y, perm = tensor<int32, [2]>([1, 0]));
`, "z")))
	require.NoError(t, err)
	fixed, _, err := shapes.Fix("p.mil", p, "", map[string][]int{"x": {5, 2}}, nil)
	require.NoError(t, err)
	require.False(t, shapes.Open(fixed))
	require.Equal(t, 4, strings.Count(string(mil.Print(fixed)), "tensor<fp16, [5, 2]>")-1, "a twice, b and y, beside x")
	require.Contains(t, string(mil.Print(fixed)), "tensor<fp16, [2, 5]> z")
}
