package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/dumptest"
)

// severities are the rules that a text breaks for the in-memory compiler of a chip.
func severities(text string, c chip.Chip) map[string]lint.Severity {
	found := map[string]lint.Severity{}
	for _, f := range lint.Text("p.mil", []byte(text), by(chip.InMemory, c)) {
		found[f.Rule.ID] = f.Severity
	}
	return found
}

// What an M5 Max compiled is no error on M5, and a convolution that it refused is one.
func TestDumpOfOperators(t *testing.T) {
	var d struct {
		Fails []string                   `json:"compile_fails"`
		Conv  struct{ Works, Fails int } `json:"conv_output_channels"`
		Pad   struct{ Works int }        `json:"pad_add_output_width"`
	}
	dumptest.Data(t, "m5max-27-operators", &d)
	to := func(channels int) string {
		return fn(t16(1, 64, 1, 64)+" x", weightOf("w", 64, channels, 64, 1, 1)+"\n"+t16(1, channels, 1, 64)+
			" y = conv("+convArgs+`, weight = w, x = x)[name = string("y")];`, "y")
	}
	require.Positive(t, d.Conv.Works)
	works := map[string]string{
		"conv":    to(d.Conv.Works),
		"add":     one("add(x = x, y = x)", 1, 1, 1, d.Pad.Works),
		"pow":     one("pow(x = x, y = fp16(2))"),
		"softmax": one("softmax(axis = int32(3), x = x)", 1, 64, 1, 256),
		"reduction": op(t16(1, 1, 1, 5120), t16(1, 1, 1, 1), "reduce_sum(axes = "+vec(3)+
			", keep_dims = bool(true), x = x)"),
	}
	for name, text := range works {
		for rule, severity := range severities(text, chip.M5) {
			require.NotEqual(t, lint.Error, severity, "%s: %s", name, rule)
		}
	}
	require.Equal(t, lint.Error, severities(to(d.Conv.Fails), chip.M5)["axis-length"])

	// Other machines compile these operators, so most are contested, and none is silently taken.
	x, y := t16(1, 64, 1, 64), t16(1, 128, 1, 64)
	refused := map[string]string{
		"concat":  op(x, y, "concat(axis = int32(1), values = (x, x))"),
		"stack":   op(x, t16(1, 2, 64, 1, 64), "stack(axis = int32(1), values = (x, x))"),
		"rsqrt":   one("rsqrt(x = x)"),
		"l2_norm": one("l2_norm(epsilon = fp16(0x1p-10), x = x)"),
		"gather": op(x, t16(1, 64, 1, 2), "gather(axis = int32(3), batch_dims = int32(0), indices = "+vec(3, 1)+
			", validate_indices = bool(false), x = x)"),
		"tile": op(x, y, "tile(reps = "+vec(1, 2, 1, 1)+", x = x)"),
	}
	for _, name := range d.Fails {
		require.Contains(t, refused, name)
		found := severities(refused[name], chip.M5)
		for _, rule := range []string{"build-info", "const-name", "small-surface"} {
			delete(found, rule)
		}
		require.NotEmpty(t, found, name)
	}
}

// Apple's compiler refused these forms for the targets of M1 and M2.
func TestDumpOfTheCompiler(t *testing.T) {
	var d struct {
		Subtypes map[string]int `json:"cpu_subtypes"`
		Bytes    int64          `json:"max_constants_bytes"`
	}
	dumptest.Data(t, "apple-compiler-h13-h14-envelope", &d)
	for target, subtype := range d.Subtypes {
		c, err := chip.Parse(target)
		require.NoError(t, err)
		require.Equal(t, subtype, c.Spec().CPUSubtype.Value, target)
	}
	require.Len(t, d.Subtypes, 5)
	// 128 MiB of constants are one program: no size below is an error.
	text := fn(t16(1, 8192, 1, 64)+" x", weightOf("w", 64, 8192, 8192, 1, 1)+"\n"+t16(1, 8192, 1, 64)+" y = conv("+
		convArgs+`, weight = w, x = x)[name = string("y")];`, "y")
	require.EqualValues(t, d.Bytes, 8192*8192*2)
	for rule, severity := range severities(text, chip.M1) {
		require.NotEqual(t, lint.Error, severity, rule)
	}
}
