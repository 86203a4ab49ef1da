package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/models"
)

// Forms that public programs run on an M4 in memory give no error there.
func TestFormsThatRun(t *testing.T) {
	x := t16(1, 64, 1, 64)
	attended := attention(64, 64, 1, 1, 64, 64)
	for name, text := range map[string]string{
		"conv": conv(64, 1, 64, 1, 1),
		"conv to 32000": fn(t16(1, 768, 1, 256)+" x", weightOf("w", 64, 32000, 768, 1, 1)+"\n"+t16(1, 32000, 1, 256)+
			" y = conv("+convArgs+`, weight = w, x = x)[name = string("y")];`, "y"),
		"matmul":            matmul(64),
		"matmul of 32000":   matmul(32000),
		"softmax":           one("softmax(axis = int32(1), x = x)", 1, 32000, 1, 256),
		"attention, masked": attended,
		"lone tile":         op(t16(1, 2, 1, 64), t16(1, 8, 1, 64), "tile(reps = "+vec(1, 4, 1, 1)+", x = x)"),
		"fp32 at the edges": fn("tensor<fp32, [1, 64, 1, 64]> x", x+` h = cast(dtype = string("fp16"), x = `+
			`x)[name = string("h")];`+
			x+` g = mul(x = h, y = fp16(0x1p-1))[name = string("g")];`+
			` tensor<fp32, [1, 64, 1, 64]> y = cast(dtype = string("fp32"), x = g)[name = string("y")];`, "y"),
		"unequal outputs":   two("a", "b", "c", "d", 64, 256),
		"8-bit activations": w8a8(64, 1),
		"two functions":     twoFunctions("x", "w"),
		"scalar I/O":        one("mul(x = x, y = fp16(2))", 1, 4, 1, 1),
		"identity": fn(x+" x", x+` r = relu(x = x)[name = string("r")];`+x+` y = identity(x = r)[name `+
			`= string("y")];`, "y"),
		"entries of one file": fn(x+" x", weightOf("v", 64, 1, 64, 1, 64)+weightOf("w", 8320, 1, 64, 1, 64)+x+
			` s = mul(x = x, y = v)[name = string("s")];`+x+` y = mul(x = s, y = w)[name = string("y")];`, "y"),
		"old dialect": old,
	} {
		for _, f := range lint.Text(name, []byte(text), lint.Options{Chips: []chip.Chip{chip.M4}}) {
			require.NotEqual(t, lint.Error, f.Severity, "%v", &f)
		}
	}
	for _, f := range lint.Text("old.mil", []byte(old), lint.Options{Chips: []chip.Chip{chip.M1, chip.M2}}) {
		require.Equal(t, lint.Note, f.Severity, "%v", &f)
	}
}

// The programs of this project give no warning on any chip from M3.
func TestModels(t *testing.T) {
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		o := lint.Options{Chips: []chip.Chip{chip.M3, chip.M4, chip.M5, chip.M6}, Weights: m.Weights}
		for _, f := range lint.Text(m.Name, m.Text, o) {
			require.Equal(t, lint.Note, f.Severity, "%v", &f)
		}
	}
}

// A program made in Go has findings without places and edits.
func TestRunOfATree(t *testing.T) {
	for name, c := range cases() {
		if name == "syntax" {
			continue
		}
		p, err := mil.Parse("p.mil", []byte(c.breaks))
		require.NoError(t, err)
		findings := of(lint.Run("p.mil", p, c.o), name)
		require.NotEmpty(t, findings, name)
		for _, f := range findings {
			require.Empty(t, f.Edits)
		}
	}
	require.NotEmpty(t, lint.Run("nil.mil", nil, lint.Options{}))
}

// A finding names the chips and compilers that it concerns, and no others.
func TestChipsOfFindings(t *testing.T) {
	text := conv(64, 8, 64, 1, 14)
	found := of(lint.Text("p.mil", []byte(text), lint.Options{}), "kernel-width")
	require.Len(t, found, 1)
	require.Equal(t, []chip.Chip{chip.M1, chip.M2}, found[0].Chips)
	require.Equal(t, []chip.Compiler{chip.InMemory}, found[0].Compilers)
	found = of(lint.Text("p.mil", []byte(text), lint.Options{Compilers: chip.Compilers()}), "kernel-width")
	require.Len(t, found, 2)
	require.Equal(t, []chip.Compiler{chip.InMemory, chip.E5}, found[0].Compilers)
	require.Equal(t, lint.Warning, found[1].Severity)
	require.Contains(t, found[1].Message, "Core ML runs it on the CPU")
	require.Empty(t, of(lint.Text("p.mil", []byte(text), on(chip.M3)), "kernel-width"))
}

// Only limits what is checked, and a habit that is repeated ends with one note.
func TestOnlyAndMany(t *testing.T) {
	many := cases()["many"].breaks
	findings := lint.Text("p.mil", []byte(many), lint.Options{Only: []string{"unused-value"}})
	require.Len(t, of(findings, "unused-value"), 50)
	require.Len(t, findings, 51)
}

// The analysis of ranges follows values through operators.
func TestRanges(t *testing.T) {
	x := t16(1, 64, 1, 64)
	through := func(calls ...string) string {
		body, last := "", "x"
		for i, call := range calls {
			name := "v" + string(rune('a'+i))
			body += x + " " + name + " = " + call + `[name = string("n")];` + "\n"
			last = name
		}
		return fn(x+" x", body, last)
	}
	for _, c := range []struct {
		text  string
		r     lint.Range
		rules []string
	}{
		{through("exp(x = x)"), lint.Range{High: 11.1}, []string{"fp16-overflow"}},
		{through("exp(x = x)"), lint.Range{High: 11}, nil},
		{through("sigmoid(x = x)", "mul(x = va, y = fp16(60000))"), lint.Range{Low: -1e4, High: 1e4}, nil},
		{through("relu(x = x)", "add(x = va, y = x)"), lint.Range{Low: -60000, High: 30000}, nil},
		{through("square(x = x)"), lint.Range{Low: -256, High: 0}, []string{"fp16-overflow"}},
		{through("square(x = x)"), lint.Range{Low: -255, High: 0}, nil},
		{through("mul(x = x, y = x)", "sub(x = va, y = va)"), lint.Range{Low: -181, High: 0}, nil},
		{through("sub(x = x, y = fp16(60000))"), lint.Range{Low: -6000, High: 0}, []string{"fp16-overflow"}},
		{through("real_div(x = x, y = fp16(0x1p-4))"), lint.Range{High: 4096}, []string{"fp16-overflow"}},
		{through("real_div(x = x, y = fp16(0x1p-4))"), lint.Range{High: 4000}, nil},
		{through("maximum(x = x, y = fp16(2))", "log(epsilon = fp16(0.001), x = va)"), lint.Range{Low: -5, High: 5},
			nil},
		{through("abs(x = x)", "sqrt(x = va)"), lint.Range{Low: -5, High: 5}, nil},
		{through("rsqrt(epsilon = fp16(0.001), x = x)"), lint.Range{Low: -5, High: 5}, []string{"domain"}},
		{through("clip(alpha = fp16(-1), beta = fp16(1), x = x)", "mul(x = va, y = fp16(60000))"), lint.Range{Low: -9,
			High: 9}, nil},
	} {
		o := lint.Options{Chips: []chip.Chip{chip.M4}, Ranges: map[string]lint.Range{"x": c.r}}
		var got []string
		for _, f := range lint.Text("p.mil", []byte(c.text), o) {
			if f.Severity == lint.Warning && f.Rule.ID != "unused-value" {
				got = append(got, f.Rule.ID)
			}
		}
		require.Equal(t, c.rules, got, "%s with %v", c.text, c.r)
	}
}

// A limit for tensors that the engine computes is none for the table of a palette.
func TestDeepTableOfPalette(t *testing.T) {
	text := fn(t16(1, 64, 1, 64)+" x", weightOf("table", 64, 1, 1, 1, 1, 16, 1)+t16(64, 64, 1, 1)+
		` w = constexpr_lut_to_dense(indices = tensor<uint4, [64, 64, 1, 1]>(BLOBFILE(path = `+
		`string("@model_path/weights/w.bin"), offset = uint64(192))), lut = table)[name = string("w")];`+
		t16(1, 64, 1, 64)+" y = conv("+convArgs+`, weight = w, x = x)[name = string("y")];`, "y")
	for _, f := range lint.Text("p.mil", []byte(text), lint.Options{Chips: []chip.Chip{chip.M4}}) {
		require.NotEqual(t, lint.Error, f.Severity, "%v", &f)
	}
}

// A statement that takes the name of an input does not stand for the input.
func TestNameOfInputTwice(t *testing.T) {
	x := t16(1, 64, 1, 64)
	text := fn(x+" b, "+x+" a", x+" a = relu(x = b);\n        "+x+" y = relu(x = a);", "y")
	findings := lint.Text("p.mil", []byte(text), lint.Options{Chips: []chip.Chip{chip.M4}})
	unused := of(findings, "unused-input")
	require.Len(t, unused, 1)
	require.Equal(t, 4, unused[0].Pos.Line, "%v", &unused[0])
	unsorted := of(findings, "unsorted-inputs")
	require.Len(t, unsorted, 1)
	require.Equal(t, 4, unsorted[0].Pos.Line, "%v", &unsorted[0])
}

// A number that is none is found whatever the type of its constant says of the axes.
func TestNaNInOpenType(t *testing.T) {
	x := t16(1, 64, 1, 64)
	text := fn(x+" x", `tensor<fp16, [?]> c = const()[name = string("c"), val = tensor<fp16, [?]>([nan, 1])];`+x+
		` y = mul(x = x, y = c)[name = string("y")];`, "y")
	require.Len(t, of(lint.Text("p.mil", []byte(text), lint.Options{}), "nan-number"), 1)
}
