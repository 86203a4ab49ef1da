package ops_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

var update = flag.Bool("update", false, "write testdata/errors.txt from the current faults of Analyze")

// TestErrors compares the faults of testdata/errors.txt: a statement, and indented
// below it the faults that Analyze reports with the statement on line 6 of a program.
func TestErrors(t *testing.T) {
	const path = "testdata/errors.txt"
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	var now strings.Builder
	count := 0
	for line := range strings.Lines(string(golden)) {
		statement, indented := strings.TrimSpace(line), strings.HasPrefix(line, " ")
		if indented {
			continue
		}
		result := "y"
		if strings.HasPrefix(statement, "relu") { // no result at all
			result = "x"
		}
		text := around(statement, result)
		_, bad := mil.Parse("e.mil", []byte(text))
		if bad != nil { // Parse refuses it: other tests cover that
			t.Errorf("%s: %v", statement, bad)
			continue
		}
		g, list := analyze(t, text, weights(t))
		if len(list) == 0 {
			t.Errorf("accepted: %s", statement)
		}
		require.True(t, g == nil || len(list) == 0)
		for _, e := range list {
			require.Equal(t, "e.mil", e.File)
			require.True(t, e.Pos.Known() && e.Pos.Line >= 6, "%v", e)
			require.Contains(t, e.Error(), "; ", "a fault says how to fix it")
		}
		fmt.Fprintf(&now, "%s\n    %s\n", statement,
			strings.ReplaceAll(strings.ReplaceAll(list.Error(), "e.mil:", ""), "\n", "\n    "))
		count++
	}
	require.Greater(t, count, 100)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(now.String()), 0o644))
	}
	require.Equal(t, strings.Split(string(golden), "\n"), strings.Split(now.String(), "\n"))
}

func TestUnknownOperator(t *testing.T) {
	_, list := analyze(t, around("fp16 y = frobnicate(x = s);", "y"), nil)
	require.Len(t, list, 1)
	require.Equal(t, mil.Pos{Line: 6, Col: 10}, list[0].Pos)
	require.Equal(t, "unknown operator frobnicate", list[0].Msg)
	require.Equal(t, "ane-roundtrip info --json lists all operators", list[0].Hint)
	_, list = analyze(t, around("fp16 y = real_dvi(x = s);", "y"), nil)
	require.Equal(t, "did you mean real_div? ane-roundtrip info --json lists all operators", list[0].Hint)
}

// TestEveryOperatorChecksItsArguments calls every operator with unknown arguments,
// missing arguments, computed settings, strings in place of tensors, and lists in place
// of single values.
func TestEveryOperatorChecksItsArguments(t *testing.T) {
	for _, name := range ops.Names() {
		d := ops.Lookup(name)
		if d == nil {
			require.Equal(t, "const", name)
			continue
		}
		refused := func(statement, msg string) {
			t.Helper()
			_, list := analyze(t, around(statement, "y"), nil)
			require.NotEmpty(t, list, statement)
			require.Contains(t, list.Error(), msg, statement)
			for _, e := range list {
				require.Equal(t, 6, e.Pos.Line, statement)
				require.Greater(t, e.Pos.Col, 1, statement)
			}
		}
		refused("fp16 y = "+name+"(nonsense = s);", name+" has no argument nonsense; write "+name+"(")
		for _, p := range d.Params {
			if !p.Optional {
				refused("fp16 y = "+name+"();", name+": argument "+p.Name+" is missing")
			}
			switch {
			case p.Const && p.Variadic:
				refused("fp16 y = "+name+"("+p.Name+" = (s));", p.Name+": has to be a constant")
				if !p.Loose {
					refused("fp16 y = "+name+"("+p.Name+" = s);", p.Name+": takes a list")
				}
			case p.Const:
				refused("fp16 y = "+name+"("+p.Name+" = s);", p.Name+": has to be a constant")
			case p.State:
				refused("fp16 y = "+name+"("+p.Name+" = s);", p.Name+": has to be a state")
				refused("fp16 y = "+name+"("+p.Name+" = (st));", p.Name+": takes a single value")
			case p.Variadic:
				if !p.Loose {
					refused("fp16 y = "+name+"("+p.Name+" = s);", p.Name+": takes a list")
				}
				refused("fp16 y = "+name+`(`+p.Name+` = (s, string("a")));`,
					p.Name+": a string where a tensor is expected")
			default:
				refused("fp16 y = "+name+"("+p.Name+" = (s));", p.Name+": takes a single value")
				refused("fp16 y = "+name+`(`+p.Name+` = string("a"));`, p.Name+": a string where a tensor is expected")
			}
		}
	}
}

func TestFunctionFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"text as an output": {"program(1.3)\n{\nfunc main<ios18>(fp16 x) { string y = const()[val = string(\"a\")]; } " +
			"-> (y);\n}", "output y: string cannot be stored on a surface"},
		"state as a tensor": {"program(1.3)\n{\nfunc main<ios18>(state<tensor<fp16, [1]>> x) { fp16 y = relu(x = x); } " +
			"-> (y);\n}", "3:66: relu: x: a state where a tensor is expected; read it first"},
		"state as an output": {"program(1.3)\n{\nfunc main<ios18>(state<tensor<fp16, [1]>> s, fp16 x) { fp16 y = " +
			"relu(x = x); } -> (y, s);\n}", "3:87: output s is a state; read it with read_state"},
		"state of a scalar": {"program(1.3)\n{\nfunc main<ios18>(state<fp16> s, fp16 x) { fp16 y = relu(x = x); } " +
			"-> (y);\n}", "3:18: state s: fp16 is not a tensor"},
		"state of a string": {"program(1.3)\n{\nfunc main<ios18>(state<tensor<string, [1]>> s, fp16 x) { fp16 y = " +
			"relu(x = x); } -> (y);\n}", "3:18: input s: string cannot be stored"},
		"no surface for strings": {"program(1.3)\n{\nfunc main<ios18>(string x) { fp16 y = relu(x = x); } -> (y);\n}",
			"string cannot be stored on a surface"},
		"no surface for int64": {"program(1.3)\n{\nfunc main<ios18>(int64 x) { fp16 y = relu(x = x); } -> (y);\n}",
			"int64 cannot be stored on a surface"},
		"unknown axis": {"program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [?]> x) { fp16 y = relu(x = x); } -> " +
			"(y);\n}", "unknown axis"},
		"rank 6": {"program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1, 1, 1, 1, 1, 1]> x) { fp16 y = " +
			"relu(x = x); } -> (y);\n}", "rank 6, at most 5"},
		"2^31 + 1 elements": {"program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [2147483649]> x) { fp16 y = relu(x = " +
			"x); } -> (y);\n}", "empty or too large"},
		"2^62 elements": {"program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [2147483648, 2147483648]> x) { fp16 y " +
			"= relu(x = x); } -> (y);\n}", "empty or too large"},
		"2^63 on an axis": {"program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [9223372036854775807]> x) { fp16 y = " +
			"relu(x = x); } -> (y);\n}", "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, list := analyze(t, c.text, nil)
			require.Contains(t, list.Error(), c.want)
			for _, e := range list {
				require.True(t, e.Pos.Known())
			}
		})
	}
}

// TestStates checks that states are apart from inputs and have their own type.
func TestStates(t *testing.T) {
	g, list := analyze(t, "program(1.3)\n{\nfunc main<ios18>(fp16 x, state<tensor<fp16, [1, 8]>> s, fp16 z) { "+
		"fp16 y = add(x = x, y = z); } -> (y);\n}", nil)
	require.Empty(t, list)
	require.Len(t, g.Inputs, 2)
	require.Equal(t, "z", g.Inputs[1].Name)
	require.Len(t, g.States, 1)
	s := g.States[0]
	require.True(t, s.State)
	require.Equal(t, []int{1, 8}, s.Shape)
	require.Equal(t, "state<tensor<fp16, [1, 8]>>", s.Type().String())
}

func TestNoSuchFunction(t *testing.T) {
	p, err := mil.Parse("e.mil", []byte("program(1.3)\n{\nfunc a<ios18>(fp16 x) { fp16 y = relu(x = x); } -> "+
		"(y);\nfunc b<ios18>(fp16 x) { fp16 y = abs(x = x); } -> (y);\n}"))
	require.NoError(t, err)
	g, err := ops.Analyze("e.mil", p, "", nil)
	require.NoError(t, err)
	require.Equal(t, "a", g.Function.Name) // the first function: there is no main
	g, err = ops.Analyze("e.mil", p, "b", nil)
	require.NoError(t, err)
	require.Equal(t, "b", g.Function.Name)
	_, err = ops.Analyze("e.mil", p, "c", nil)
	require.EqualError(t, err, "e.mil:1:1: no function called \"c\"; choose one of a, b")
	empty, err := mil.Parse("e.mil", []byte("program(1.3) {}"))
	if err == nil { // a program without functions is valid
		_, err = ops.Analyze("e.mil", empty, "", nil)
	}
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	require.True(t, list[0].Pos.Known())
	require.Equal(t, "the program has no function", list[0].Msg)
}

// One remark on many operators is one note, with the place of the first and the number of the others.
func TestNotes(t *testing.T) {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "tensor<fp32, [3]> v%d = relu(x = f);\n", i)
	}
	body.WriteString("tensor<int32, [3]> nn = cast(x = f, dtype = string(\"int32\"));\n" +
		"tensor<int32, [3]> n0 = add(x = nn, y = nn);\ntensor<int32, [3]> n1 = sub(x = nn, y = nn);\n")
	g, list := analyze(t, around(body.String(), "v0"), nil)
	require.Empty(t, list)
	const cause = " arithmetic: the engine of an M1 computes in fp16 alone (guide); cast to fp16"
	require.Equal(t, []string{"e.mil:6:24: relu, and 499 more operators: fp32" + cause,
		"e.mil:506:25: cast: in memory an M3 Pro refuses casts of fp32 to int32, and by e5 an M5",
		"e.mil:507:25: add, and 1 more operator: int32" + cause}, g.Notes)
}

// TestHandMadeTrees passes trees to Analyze that no text can produce.
func TestHandMadeTrees(t *testing.T) {
	for _, p := range []*mil.Program{
		nil, {}, {Funcs: []*mil.Function{nil}}, {Version: "1.3",
			Funcs: []*mil.Function{{Name: "main", Opset: "ios18"}}},
		{Version: "1.3", Funcs: []*mil.Function{{Name: "main", Opset: "ios18",
			Body: []*mil.Op{nil, {}, {Kind: "const"}, {Kind: "add", Args: []mil.Arg{{Name: "x"}}}}}}},
		{Version: "1.3", Funcs: []*mil.Function{{Name: "main", Opset: "ios18",
			Body: []*mil.Op{{Kind: "relu", Args: []mil.Arg{{Name: "x", Value: &mil.Value{}},
				{Name: "y", Value: (*mil.Values)(nil)}}}}}}},
	} {
		_, err := ops.Analyze("built", p, "", nil)
		require.Error(t, err)
	}
}

// TestManyFaults checks that Analyze stops after mil.MaxFaults.
func TestManyFaults(t *testing.T) {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "fp16 v%d = nothing(x = s);\n", i)
	}
	_, list := analyze(t, around(body.String(), "v0"), nil)
	require.Len(t, list, mil.MaxFaults+1)
	require.Equal(t, "too many faults", list[mil.MaxFaults].Msg)
}

// An output that is an input or a constant is what identity makes of it, with a note.
func TestReturnedOperands(t *testing.T) {
	p, err := mil.Parse("p.mil", []byte("program(1.3)\n{\nfunc main<ios18>(fp16 x) { fp16 y = const()[val = fp16(1)]; } -> (x, y);\n}"))
	require.NoError(t, err)
	g, err := ops.Analyze("p.mil", p, "", nil)
	require.NoError(t, err)
	require.Len(t, g.Outputs, 2)
	for i, v := range g.Outputs {
		require.Equal(t, "identity", v.Made.Def.Name)
		require.Equal(t, []string{"x", "y"}[i], v.Name)
		require.Contains(t, g.Notes[i], "output "+v.Name+" is an input or a constant, which is copied here")
	}
}
