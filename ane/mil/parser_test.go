package mil

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

// read returns the text of a file. It fails the test if there is no such file.
func read(t testing.TB, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	return src
}

// files lists the files that a pattern below testdata matches.
func files(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

// TestCanonical parses texts in canonical form and prints them unchanged.
func TestCanonical(t *testing.T) {
	for _, path := range files(t, "canonical/*.mil") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src := read(t, path)
			p, err := Parse(path, src)
			require.NoError(t, err)
			require.Equal(t, string(src), string(Print(p)))
			q, err := Parse(path, Print(p))
			require.NoError(t, err)
			require.True(t, Equal(p, q))
		})
	}
}

// TestForms parses texts in free form and compares with the canonical text.
func TestForms(t *testing.T) {
	for _, path := range files(t, "forms/*.mil") {
		p, err := Parse(path, read(t, path))
		require.NoError(t, err)
		golden := strings.TrimSuffix(path, ".mil") + ".golden"
		require.Equal(t, string(read(t, golden)), string(Print(p)), path)
	}
}

// A caret comment says that the line above has a fault at the caret's column,
// or at the column in the number before the caret, and that its text matches the pattern.
var caret = regexp.MustCompile(`^\s*//(\d*)\s*\^ (.*)$`)

type expectation struct {
	pos Pos
	rx  string
}

func expectations(t *testing.T, src []byte) (want []expectation) {
	last := 0
	for i, line := range strings.Split(string(src), "\n") {
		m := caret.FindStringSubmatch(line)
		if m == nil {
			last = i + 1
			continue
		}
		col := strings.Index(line, "^") + 1
		if m[1] != "" {
			var err error
			col, err = strconv.Atoi(m[1])
			require.NoError(t, err)
		}
		want = append(want, expectation{Pos{last, col}, m[2]})
	}
	return want
}

// TestErrors parses faulty texts that carry their faults in caret comments:
// Parse must return exactly these faults, in this order.
func TestErrors(t *testing.T) {
	for _, path := range files(t, "errors/*.mil") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src := read(t, path)
			_, err := Parse(path, src)
			var list ErrorList
			require.ErrorAs(t, err, &list)
			want := expectations(t, src)
			for i, e := range list {
				require.Less(t, i, len(want), "unexpected: %v", e)
				require.Equal(t, path, e.File)
				require.Equal(t, want[i].pos, e.Pos, "%v", e)
				require.Regexp(t, want[i].rx, e.Msg+"; "+e.Hint, "%v", e)
			}
			require.Len(t, list, len(want), "missing: %v", want[len(list):])
		})
	}
}

// body wraps statements into a program whose function takes x and returns it.
func body(stmts string) string {
	return "program(1.3) { func main<ios18>(tensor<fp16, [4]> x) {\n" + stmts + "\n} -> (x); }"
}

func TestBytes(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", `f:1:1: expected "program", found end of file`},
		{"NUL", "program(1.3)\x00 {\n}", "f:1:13: NUL byte"},
		{"UTF-8", "program(1.3) {\n \xff\xfe}", "f:2:2: byte 0xff is not valid UTF-8"},
		{"UTF-8 in comment", "program(1.3) { // a\xc3(\n}", "f:1:20: byte 0xc3 is not valid UTF-8"},
		{"NUL in comment", "program(1.3) { // \x00\n}", "f:1:19: NUL byte"},
		{"UTF-8 in string", body("write(a = string(\"ab\xc0\"));"), "f:2:21: byte 0xc0 is not valid UTF-8"},
		{"NUL in string", body("write(a = string(\"\x00\"));"), "f:2:19: NUL byte in a string"},
		{"letter", body("fp16 é = relu(x = x);"), `f:2:6: unexpected 'é'`},
		{"open string at end", "program(1.3) [a = string(\"x", "f:1:26: string is not closed"},
		{"open comment at end", "program(1.3) { //", "f:1:18: expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f", []byte(c.src))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := Parse("f", []byte("\uFEFF"+body("")))
	require.NoError(t, err, "a byte order mark is not a fault")
}

func TestPositions(t *testing.T) {
	src := body("fp16 k = const()[val = fp16(-0x1p-1)];\n  (fp16 a, fp16 b) = split(values = (x, k))[name = " +
		"string(\"s\")];")
	p, err := Parse("f", []byte(src))
	require.NoError(t, err)
	k, s := p.Funcs[0].Body[0], p.Funcs[0].Body[1]
	require.Equal(t, Pos{1, 21}, p.Funcs[0].Pos)
	require.Equal(t, Pos{2, 10}, k.Pos)
	require.Equal(t, Pos{2, 1}, k.Results[0].Pos)
	require.Equal(t, Pos{2, 6}, k.Results[0].At)
	require.Equal(t, Pos{2, 18}, k.Attr("val").Pos)
	require.Equal(t, Pos{2, 24}, k.Attr("val").Value.Start())
	require.Equal(t, Pos{2, 29}, k.Attr("val").Value.(*Value).Literal.(Number).Pos)
	require.Equal(t, Pos{3, 22}, s.Pos)
	require.Equal(t, Pos{3, 12}, s.Results[1].Pos)
	require.Equal(t, Pos{3, 37}, s.Arg("values").Value.Start())
	require.Equal(t, Pos{3, 41}, s.Arg("values").Value.(*Values).Items[1].Start())
}

// Numbers and truth values may lack a type between parentheses. They print as they are.
func TestBare(t *testing.T) {
	const text = "fp16 y = k(a = true, b = -1, c = (2.5, inf, x), d = const(val = 0x1p-1));"
	p, err := Parse("f", []byte(body(text)))
	require.NoError(t, err)
	op := p.Funcs[0].Body[0]
	require.True(t, op.Arg("a").Value.(*Value).Bare())
	require.Equal(t, Bool, op.Arg("a").Value.(*Value).BareType())
	require.Equal(t, Int32, op.Arg("b").Value.(*Value).BareType())
	require.Equal(t, FP16, op.Arg("c").Value.(*Values).Items[0].(*Value).BareType())
	require.Contains(t, string(Print(p)), text)
	q, err := Parse("f", Print(p))
	require.NoError(t, err)
	require.True(t, Equal(p, q))
	typed := &Value{Type: ScalarOf(Bool), Literal: BoolLit{Value: true}}
	require.False(t, typed.Bare())
	require.Equal(t, NoType, typed.BareType())
	require.False(t, (*Value)(nil).Bare())

	for _, refused := range []string{"fp16 y = k()[a = true];", "fp16 y = k()[a = (1, x)];",
		"fp16 y = k(a = const()[val = 1]);", "fp16 y = k(a = fp16(true));"} {
		_, err := Parse("f", []byte(body(refused)))
		require.Error(t, err, refused)
	}
	op.Attrs = append(op.Attrs, A("a2", op.Arg("a").Value))
	require.ErrorContains(t, Validate("f", p), "true has no type", "a tree that no text can express")
}

func TestTooManyFaults(t *testing.T) {
	_, err := Parse("f", []byte(body(strings.Repeat("fp16 a = relu(x = [true]);\n", 500))))
	var list ErrorList
	require.ErrorAs(t, err, &list)
	require.Len(t, list, MaxFaults+1)
	require.Equal(t, "too many faults", list[MaxFaults].Msg)
	require.Contains(t, list[MaxFaults-1].Msg, "bracketed")
}

func TestNesting(t *testing.T) {
	nest := func(open, mid, end string, n int) string {
		return strings.Repeat(open, n) + mid + strings.Repeat(end, n)
	}
	for _, c := range []struct {
		name, open, mid, end, wrap string
	}{
		{"list", "[", "1", "]", "write(a = tuple<int32>(%));"},
		{"tuple", "(", "1", ")", "write(a = tuple<int32>(%));"},
		{"operands", "(", "x", ")", "write(a = (%));"},
		{"type", "tuple<", "int32", ">", "write(a = %(1));"},
		{"value", "fp16(", "1", ")", "write(a = %);"},
		{"const", "const(a = ", "x", ")", "write(a = %);"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := func(n int) []byte {
				return []byte(body(strings.Replace(c.wrap, "%", nest(c.open, c.mid, c.end, n), 1)))
			}
			p, err := Parse("f", text(MaxNesting/2-2))
			require.NoError(t, err)
			q, err := Parse("f", Print(p))
			require.NoError(t, err)
			require.True(t, Equal(p, q))
			_, err = Parse("f", text(MaxNesting+1))
			require.ErrorContains(t, err, "nested too deep")
		})
	}
}

// TestHostile parses long runs of repeated fragments after every kind of opening.
// Parse must end with faults and short messages.
func TestHostile(t *testing.T) {
	size := effort.Rounds(1<<18, 1<<16)
	openings := []string{
		"", "program(1.3)[a = ", "program(1.3){func main<ios18>(", "program(1.3){func main<ios18>(){",
		"program(1.3){func main<ios18>(){fp16 a = b(c = ", "program(1.3){func main<ios18>(){fp16 a = b(c = fp16(",
	}
	fragments := []string{
		"(", ")", "[", "{", "}", "<", "\"", "\"\n", "\\", "%", "%x", "-", "->", "0x", "1", "1 ", "a", "a=", "a,",
		"fp16 ", "fp16(", "tensor<", "tuple<", "list<", "const(", "func a", "//", "//\n", ";", "\x00", "\xff", "a=(",
		"{{",
	}
	for _, o := range openings {
		for _, f := range fragments {
			_, err := Parse("f", []byte(o+strings.Repeat(f, size/len(f))))
			var list ErrorList
			require.ErrorAs(t, err, &list, "%q %q", o, f)
			require.LessOrEqual(t, len(list), MaxFaults+1)
			require.Less(t, len(err.Error()), 100_000, "%q %q", o, f)
		}
	}
}

// A hint suggests the reserved word or the name that a misspelt word resembles.
func TestDidYouMean(t *testing.T) {
	for want, text := range map[string]string{
		"program": "porgram(1.3) {}",
		"func":    "program(1.3) { fucn main<ios18>() { } -> (); }",
		"tensor":  "program(1.3) { func main<ios18>(tensr<fp16, [1]> x) { } -> (x); }",
		"fp16":    "program(1.3) { func main<ios18>(tensor<fp61, [1]> x) { } -> (x); }",
		"weight":  "program(1.3) { func main<ios18>(fp16 weight) { fp16 y = relu(x = wieght); } -> (y); }",
		"false":   "program(1.3) { func main<ios18>(fp16 x) { fp16 y = relu(x = x, b = bool(flase)); } -> (y); }",
		"path":    `program(1.3) { func main<ios18>(fp16 x) { fp16 y = relu(x = fp16(BLOBFILE(paht = string("w")))); } -> (y); }`,
	} {
		_, err := Parse("f", []byte(text))
		require.ErrorContains(t, err, "did you mean "+want+"? ", text)
	}
}
