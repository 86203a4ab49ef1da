package mil

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNumbersOfC takes decimals and the hexadecimal floats of C99.
func TestNumbersOfC(t *testing.T) {
	for _, s := range []string{
		"0", "12", "-1", "0.5", "12.125", "1e3", "1E+3", "12.5e-10", "inf", "-inf", "nan", "-nan",
		"0x1p0", "0X1P-3", "0x1.8p+1", "0x1.8cdp1", "0x12.8p0", "0xfFaA.p4", "0x.8p1", "-0x1p-24",
	} {
		require.True(t, validNumber(s), s)
	}
	for _, s := range []string{
		"", "-", ".5", "1.", "1e", "1e+", "0x", "0x1", "0xp1", "0x1p", "0x1p-", "0x1gp0", "1f", "1.2.3", "infinity",
		"-abc",
	} {
		require.False(t, validNumber(s), s)
	}
	n, hint := scanNumber("-abc, 1")
	require.Equal(t, len("-abc"), n)
	require.Contains(t, hint, "minus sign")
}

func TestVersionsAreDecimals(t *testing.T) {
	for s, want := range map[string]bool{
		"1": true, "1.3": true, "1.30": true, "10.25": true, "1.": false, "1e3": false, "0x1p0": false, "-1": false,
	} {
		require.Equal(t, want, decimalVersion(s), s)
	}
}

// TestEscapesOfC reads every escape of C strings, each at the end of its range.
func TestEscapesOfC(t *testing.T) {
	for text, want := range map[string]string{
		`\a\b\f\n\r\t\v`: "\a\b\f\n\r\t\v", `\\\"\'\?`: `\"'?`,
		`\0`: "\x00", `\7`: "\x07", `\77`: "?", `\377`: "\xff", `\1019`: "A9", `\1234`: "S4",
		`\x41`: "A", `\xff`: "\xff", `\x000041`: "A",
		`\u00e9`: "é", `\U0001F600`: "😀", `\U0010ffff`: "\U0010ffff",
		"é": "é", "\uFFFD": "\uFFFD", "\x7f": "\x7f",
	} {
		value, n, _, msg, _ := unquote(`"` + text + `" rest`)
		require.Empty(t, msg, text)
		require.Equal(t, want, value, text)
		require.Equal(t, len(text)+2, n, text)
	}
	for text, want := range map[string]string{
		`\8`: "escape", `\400`: `\377`, `\x100`: "octal", `\x`: "octal",
		`\u12`: "four", `\ud800`: "Unicode", `\U00110000`: "Unicode",
		"\x80": "byte 0x80", "\xc3": "byte 0xc3",
	} {
		_, _, at, msg, hint := unquote(`"` + text + `"`)
		require.Equal(t, 1, at, text)
		require.Contains(t, msg+"; "+hint, want, text)
	}
	// The end of the text is the fault, not the half of an escape before it.
	for _, text := range []string{`"a`, `"a\n`} {
		_, n, at, msg, _ := unquote(text)
		require.Zero(t, at, text)
		require.Equal(t, len(text), n)
		require.Contains(t, msg, "not closed", text)
	}
}

// TestQuotedStringsAreReadBack quotes every byte, alone and in pairs with a digit.
func TestQuotedStringsAreReadBack(t *testing.T) {
	for c := range 256 {
		for _, s := range []string{string([]byte{byte(c)}), string([]byte{byte(c), '7'}),
			"é" + string([]byte{byte(c)})} {
			value, _, _, msg, _ := unquote(quote(s))
			require.Empty(t, msg)
			require.Equal(t, s, value)
		}
	}
	for s, want := range map[string]string{
		"\x80": `"\200"`, "\xff": `"\377"`, "\uFFFD": "\"\uFFFD\"", "\x7f": `"\177"`, " ~": `" ~"`, "\x1f": `"\037"`,
		"\t\n": `"\t\n"`,
	} {
		require.Equal(t, want, quote(s))
	}
}

func TestPlacesOfInvalidBytes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"program(1.3)\n{ // NUL \x00\n}", "f:2:10: NUL byte in a comment"},
		{"program(1.3)\n{ // \xc3\n}", "f:2:6: byte 0xc3 is not valid UTF-8"},
		{"program(1.3)\n{ \x80\x80\xff\x00\x80\n}", "f:2:3: byte 0x80 is not valid UTF-8"},
		{"program(1.3)\n{ #\n}", `f:2:3: unexpected '#'; comments start with //`},
		{"program(1.3)\n{ /\n}", `f:2:3: unexpected '/'; comments start with //`},
		{"program(1.3)\n{ } %", `f:2:5: unexpected "%"`},
		{"program(1.3)\n{ } %zebra", `names have no % prefix: write zebra`},
	} {
		_, err := Parse("f", []byte(c.src))
		require.ErrorContains(t, err, c.want)
		var list ErrorList
		require.ErrorAs(t, err, &list)
		require.Equal(t, 1, strings.Count(err.Error(), "UTF-8;")+strings.Count(err.Error(), "unexpected ")+
			strings.Count(err.Error(), "NUL byte"), "a run is one fault: %v", err)
	}
}

func TestNamesAreASCII(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "z": true, "A": true, "Z": true, "_": true, "x0": true, "x9": true, "aAzZ_09": true,
		"": false, "0x": false, "x.y": false, "é": false,
		"x@": false, "x[": false, "x`": false, "x{": false, "x/": false, "x:": false,
	} {
		require.Equal(t, want, ValidName(name), name)
	}
}

// Messages show sixty bytes of a text, and whole characters.
func TestLongTextsAreCutInMessages(t *testing.T) {
	sixty := strings.Repeat("a", 60)
	for s, want := range map[string]string{
		sixty: sixty, sixty + "b": sixty + "...", sixty[1:] + "é": sixty[1:] + "...", "": "",
		sixty[2:] + "éé": sixty[2:] + "é...",
	} {
		require.Equal(t, want, shorten(s))
	}
}

func TestUnknownTypesSuggestEveryType(t *testing.T) {
	for wrong, want := range map[string]string{"tensr": "tensor", "uint23": "uint32", "strin": "string",
		"int_8": "int8"} {
		_, err := Parse("f", []byte(body(wrong+" y = relu(x = x);")))
		require.ErrorContains(t, err, "did you mean "+want)
	}
}

// beyond is a number of no scalar type.
var beyond = DType(len(dtypes))

func TestScalarTypesHaveTheirWidth(t *testing.T) {
	for d, want := range map[DType]struct {
		size, bits                int
		integer, unsigned, floats bool
	}{
		FP16: {2, 16, false, false, true}, FP32: {4, 32, false, false, true}, BF16: {2, 16, false, false, true},
		Bool: {1, 8, false, false, false}, Int1: {0, 1, true, false, false}, Int4: {0, 4, true, false, false},
		Int8: {1, 8, true, false, false}, Int64: {8, 64, true, false, false}, UInt1: {0, 1, true, true, false},
		UInt6: {0, 6, true, true, false}, UInt64: {8, 64, true, true, false}, String: {}, NoType: {}, beyond: {},
		200: {},
	} {
		require.Equal(t, want.size, d.Size(), "%v", d)
		require.Equal(t, want.bits, d.Bits(), "%v", d)
		require.Equal(t, want.integer, d.Integer(), "%v", d)
		require.Equal(t, want.unsigned, d.Unsigned(), "%v", d)
		require.Equal(t, want.floats, d.Float(), "%v", d)
	}
	require.Equal(t, NoType.String(), beyond.String())
	// A tree can have a type that no text has.
	err := Validate("f", &Program{Version: "1.3", Funcs: []*Function{{Name: "main", Opset: "ios18",
		Params: []Var{{Name: "x", Type: ScalarOf(beyond)}}, Results: []Ref{{Name: "x"}}}}})
	require.ErrorContains(t, err, "type without a scalar type")
}

func TestElementsFitAnInt(t *testing.T) {
	for _, c := range []struct {
		shape []int
		n     int
		ok    bool
	}{
		{nil, 1, true}, {[]int{math.MaxInt}, math.MaxInt, true}, {[]int{math.MaxInt/2 + 1, 2}, 0, false},
		{[]int{2, 0, 3}, 0, true}, {[]int{-1}, 0, false},
	} {
		n, ok := TensorOf(FP16, c.shape...).Elements()
		require.Equal(t, c.ok, ok, "%v", c.shape)
		require.Equal(t, c.n, n, "%v", c.shape)
	}
}

// TestNestingEndsAtItsLimit parses, prints and parses a type that nests as deep as
// MaxNesting says, its scalar included. It refuses deeper ones, and reads none of
// the text of what is deeper by itself.
func TestNestingEndsAtItsLimit(t *testing.T) {
	text := func(depth int) string {
		typ := strings.Repeat("tuple<", depth) + "fp16" + strings.Repeat(">", depth)
		return "program(1.3)\n{\nfunc main<ios18>(" + typ + " x) {\n} -> (x);\n}\n"
	}
	p, err := Parse("f", []byte(text(MaxNesting-1)))
	require.NoError(t, err)
	printed := Print(p)
	require.Contains(t, string(printed), "<fp16>")
	again, err := Parse("f", printed)
	require.NoError(t, err)
	require.True(t, Equal(p, again))
	_, err = Parse("f", []byte(text(MaxNesting)))
	require.ErrorContains(t, err, "nested too deep")
	_, err = Parse("f", []byte(text(MaxNesting+1)))
	require.ErrorContains(t, err, fmt.Sprintf("f:3:%d: nested", len("func main<ios18>(")+MaxNesting*len("tuple<")+1))
}

// Lists have any length: only nesting has a limit.
func TestLongListsArePrintedWhole(t *testing.T) {
	const n = 3 * MaxNesting
	numbers := slices.Repeat([]int{7}, n)
	b := NewBuilder()
	f := b.Func("main")
	x := f.Input("x", FP16, 1)
	c := f.Const("c", Int32s(numbers...))
	items := &Values{}
	for range n {
		items.Items = append(items.Items, Ref{Name: "x"})
	}
	f.Output(f.Op("concat", TensorOf(FP16, n), "y", A("values", items), A("axis", Int32Scalar(0)), A("c", c),
		A("x", x)))
	p, err := b.Program()
	require.NoError(t, err)
	again, err := Parse("f", Print(p))
	require.NoError(t, err)
	require.True(t, Equal(p, again))
}

// A const in place of an operand is printed with brackets only if it has attributes.
func TestNestedConstsArePrinted(t *testing.T) {
	call := func(n *Nested) string {
		return string(Print(&Program{Version: "1.3", Funcs: []*Function{{Name: "main", Opset: "ios18",
			Body: []*Op{{Kind: "relu", Args: []Arg{A("x", n)}, Results: []Var{{Name: "y", Type: ScalarOf(FP16)}}}}}}}))
	}
	require.Contains(t, call(&Nested{Args: []Arg{A("val", Int32Scalar(1))}}), "relu(x = const(val = int32(1)));")
	require.Contains(t, call(&Nested{Attrs: []Arg{A("val", Int32Scalar(1))}}), "relu(x = const()[val = int32(1)]);")
}

// TestTreesThatContainThemselves passes loops to everything that walks a tree: each
// ends, and none calls the tree equal to anything.
func TestTreesThatContainThemselves(t *testing.T) {
	list := &ListLit{}
	list.Items = []Literal{list}
	pair := &DictLit{}
	pair.Pairs = []Pair{{StringLit{Value: "a"}, pair}}
	tuple := &TupleLit{}
	tuple.Items = []Literal{tuple}
	values := &Values{}
	values.Items = []Operand{values}
	args, attrs := &Nested{}, &Nested{}
	args.Args, attrs.Attrs = []Arg{A("x", args)}, []Arg{A("x", attrs)}
	path := &Value{Type: ScalarOf(String)}
	path.Literal = &Blob{Path: path, Offset: &Value{Type: ScalarOf(UInt64), Literal: Number{Text: "64"}}}
	for name, o := range map[string]Operand{
		"list": &Value{Type: ScalarOf(FP16), Literal: list}, "dict": &Value{Type: ScalarOf(FP16), Literal: pair},
		"tuple": &Value{Type: ScalarOf(FP16), Literal: tuple}, "values": values,
		"arguments": args, "attributes": attrs, "path": path,
	} {
		p := &Program{Version: "1.3", Funcs: []*Function{{Name: "main", Opset: "ios18",
			Body: []*Op{{Kind: "relu", Args: []Arg{A("x", o)}}}}}}
		require.ErrorContains(t, Validate("f", p), "nested too deep", name)
		require.False(t, Equal(p, p), name)
		require.NotEmpty(t, Print(p), name)
		b := NewBuilder(OldDialect())
		b.Func("main").Op("relu", ScalarOf(FP16), "y", A("x", o))
		_, err := b.Program()
		require.Error(t, err, name)
	}
}

// The old dialect writes each literal of a list as a tensor of rank 0.
func TestListsInTheOldDialect(t *testing.T) {
	b := NewBuilder(OldDialect())
	f := b.Func("main")
	x := f.Input("x", Int32)
	one := Int32Scalar(1)
	f.Output(f.Op("concat", TensorOf(Int32, 2), "y", A("values", &Values{Items: []Operand{one, one}}), A("x", x)))
	p, err := b.Program()
	require.NoError(t, err)
	require.Contains(t, string(Print(p)), "values = (tensor<int32, []>(1), tensor<int32, []>(1))")
	require.Equal(t, Scalar, one.Type.Kind, "the caller's literal is not changed")
}

// TestEqualSeesMissingParts compares trees that lack a part in the same place, and
// with the tree that has it.
func TestEqualSeesMissingParts(t *testing.T) {
	in := func(o Operand) *Program {
		return &Program{Funcs: []*Function{{Body: []*Op{{Kind: "relu", Args: []Arg{A("x", o)}}}}}}
	}
	lit := func(l Literal) *Program { return in(&Value{Type: ScalarOf(FP16), Literal: l}) }
	for name, c := range map[string]struct{ missing, there *Program }{
		"program":  {nil, &Program{}},
		"function": {&Program{Funcs: []*Function{nil}}, &Program{Funcs: []*Function{{}}}},
		"op":       {&Program{Funcs: []*Function{{Body: []*Op{nil}}}}, &Program{Funcs: []*Function{{Body: []*Op{{}}}}}},
		"operand":  {in(nil), in(Ref{Name: "a"})},
		"value":    {in((*Value)(nil)), in(&Value{})},
		"values":   {in((*Values)(nil)), in(&Values{})},
		"nested":   {in((*Nested)(nil)), in(&Nested{})},
		"literal":  {lit(nil), lit(Number{Text: "1"})},
		"blob":     {lit((*Blob)(nil)), lit(&Blob{})},
		"path":     {lit(&Blob{}), lit(&Blob{Path: &Value{}})},
		"list":     {lit((*ListLit)(nil)), lit(&ListLit{})},
		"tuple":    {lit((*TupleLit)(nil)), lit(&TupleLit{})},
		"dict":     {lit((*DictLit)(nil)), lit(&DictLit{})},
	} {
		require.True(t, Equal(c.missing, c.missing), name)
		require.True(t, Equal(c.there, c.there), name)
		require.False(t, Equal(c.missing, c.there), name)
		require.False(t, Equal(c.there, c.missing), name)
	}
	require.False(t, Equal(in(Ref{Name: "a"}), in(&Values{})))
	require.False(t, Equal(lit(Number{Text: "1"}), lit(BoolLit{})))
}

func TestFuncFindsByName(t *testing.T) {
	a, b := &Function{Name: "a"}, &Function{Name: "b"}
	p := &Program{Funcs: []*Function{a, b}}
	require.Same(t, a, p.Func("a"))
	require.Same(t, b, p.Func("b"))
	require.Nil(t, p.Func("c"))
}

// An error without a place starts with its message.
func TestErrorsNameWhatTheyKnow(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Msg: "m"}, "m"}, {Error{Msg: "m", Hint: "h"}, "m; h"}, {Error{File: "f", Msg: "m"}, "f: m"},
		{Error{Pos: Pos{2, 3}, Msg: "m"}, "2:3: m"}, {Error{File: "f", Pos: Pos{2, 3}, Msg: "m"}, "f:2:3: m"},
	} {
		require.Equal(t, c.want, c.err.Error())
	}
}

func TestFaultsAreSortedByFileAndPlace(t *testing.T) {
	list := ErrorList{
		{File: "b", Pos: Pos{1, 1}}, {File: "a", Pos: Pos{2, 1}}, {File: "a", Pos: Pos{1, 9}, Msg: "first"},
		{File: "a", Pos: Pos{1, 9}, Msg: "second"}, {File: "a", Pos: Pos{1, 2}},
	}
	sorted := ErrorList{list[4], list[2], list[3], list[1], list[0]}
	list.sort()
	require.Equal(t, sorted, list)
}

// A list has MaxFaults faults. Further ones are left out, and the last fault says so.
func TestListsOfFaultsEndAtTheirLimit(t *testing.T) {
	for n, left := range map[int]bool{MaxFaults: false, MaxFaults + 1: true, 2 * MaxFaults: true} {
		var stmts strings.Builder
		var merged ErrorList
		for i := range n {
			fmt.Fprintf(&stmts, "fp16 v%d = relu(x = nowhere);\n", i)
			merged.Add(&Error{Pos: Pos{i + 1, 1}, Msg: "m"})
		}
		_, err := Parse("f", []byte(body(stmts.String())))
		var list ErrorList
		require.ErrorAs(t, err, &list)
		for name, list := range map[string]ErrorList{"parsed": list, "merged": merged.Merge(nil)} {
			if !left {
				require.Len(t, list, MaxFaults, name)
				require.NotContains(t, list.Error(), "too many faults", name)
				continue
			}
			require.Len(t, list, MaxFaults+1, name)
			require.Equal(t, "too many faults", list[MaxFaults].Msg, name)
		}
	}
}

// A bare literal in place of an operand is shown with the type that it most likely has.
func TestHintsOnBareLiterals(t *testing.T) {
	for literal, want := range map[string]string{
		"1": "int32(1)", "1.5": "fp16(1.5)", "true": "bool(true)", `"s"`: `string("s")`, "[]": "tensor<int32, [0]>([])",
		"[1, 2]": "tensor<int32, [2]>([1, 2])", "[1, 2.5]": "tensor<fp16, [2]>([1, 2.5])",
		"[1, 2, 3, 4, 5, 6, 7, 8]":    "tensor<int32, [8]>([1, 2, 3, 4, 5, 6, 7, 8])",
		"[1, 2, 3, 4, 5, 6, 7, 8, 9]": "tensor<int32, [9]>([..])",
	} {
		_, err := Parse("f", []byte(body("fp16 y = const()[val = "+literal+"];")))
		require.ErrorContains(t, err, want)
	}
}
