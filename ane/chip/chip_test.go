package chip

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for word, want := range map[string]Chip{
		"m1": M1, "h13": M1, "H13G": M1, "m2": M2, "h14": M2, "m3": M3, "h15": M3, "M4": M4, "h16g": M4, "h16": M4,
		"m5": M5, "h17": M5, "h17s": M5, " m6 ": M6, "H18G": M6,
	} {
		got, err := Parse(word)
		require.NoError(t, err, word)
		require.Equal(t, want, got, word)
	}
	for _, c := range All() {
		for _, name := range names[c] {
			got, err := Parse(name)
			require.NoError(t, err)
			require.Equal(t, c, got)
		}
	}
}

func TestParseSuggests(t *testing.T) {
	for word, want := range map[string]string{
		"h16gg": "did you mean h16g?", "m7": "did you mean m1?", "": "choose one of m1 (h13)",
		strings.Repeat("x", 1000): "xxx..",
	} {
		_, err := Parse(word)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, err.Error(), want)
		require.Less(t, len(err.Error()), 200)
	}
}

func TestParseList(t *testing.T) {
	for list, want := range map[string][]Chip{
		"m4": {M4}, "m6,h13,m1": {M1, M6}, "m2-m4": {M2, M3, M4}, "all": All(), "h13-h14, m6": {M1, M2, M6},
	} {
		got, err := ParseList(list)
		require.NoError(t, err, list)
		require.Equal(t, want, got, list)
	}
	for _, list := range []string{"", "m1,", "m4-m1", "m1-", "m1-m9"} {
		_, err := ParseList(list)
		require.Error(t, err, list)
	}
}

func TestNames(t *testing.T) {
	require.Equal(t, "m4", M4.String())
	require.Equal(t, "h16g", M4.Target())
	require.Equal(t, "Chip(0)", Chip(0).String())
	require.Empty(t, Chip(7).Target())
}

func TestCompilers(t *testing.T) {
	for word, want := range map[string]Compiler{
		"in-memory": InMemory, "MEM": InMemory, "e5": E5, "Core ML": CoreML, "coreml": CoreML,
	} {
		got, err := ParseCompiler(word)
		require.NoError(t, err, word)
		require.Equal(t, want, got)
	}
	for _, r := range Compilers() {
		got, err := ParseCompiler(r.String())
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
	_, err := ParseCompiler("coremk")
	require.ErrorContains(t, err, "did you mean coreml?")
}

func TestOS(t *testing.T) {
	for word, want := range map[string]OS{"15": 15, "macos15": 15, "macOS 15.3.1": 15, "ios18": 15, "ios15": 12,
		"26":    26,
		"ios26": 26, "macos27": 27} {
		got, err := ParseOS(word)
		require.NoError(t, err, word)
		require.Equal(t, want, got, word)
	}
	for _, word := range []string{"", "macos", "16", "ios14", "-1", "macosios15", "windows"} {
		_, err := ParseOS(word)
		require.Error(t, err, word)
	}
	for opset, want := range map[string]OS{"ios13": 12, "ios15": 12, "ios16": 13, "ios17": 14, "ios18": 15,
		"ios26": 26} {
		got, ok := Opset(opset)
		require.True(t, ok, opset)
		require.Equal(t, want, got, opset)
	}
	for _, opset := range []string{"", "ios", "ios19", "macos15", "18"} {
		_, ok := Opset(opset)
		require.False(t, ok, opset)
	}
}

// Every fact that has a value has a degree and a source, every one without is zero.
func TestEvidence(t *testing.T) {
	var walk func(c Chip, v reflect.Value, path string)
	walk = func(c Chip, v reflect.Value, path string) {
		if d := v.FieldByName("Degree"); d.IsValid() {
			source := v.FieldByName("Source").String()
			if d.Interface() == unknown {
				require.True(t, v.IsZero(), "%v %s", c, path)
			} else {
				require.NotEmpty(t, source, "%v %s", c, path)
			}
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Struct {
				walk(c, f, path+"."+v.Type().Field(i).Name)
			}
		}
	}
	for _, c := range All() {
		s := c.Spec()
		require.Equal(t, c, s.Chip)
		walk(c, reflect.ValueOf(s), "Spec")
	}
	require.Equal(t, Spec{}, Chip(0).Spec())
}

// The figures are those that the sources publish.
func TestFigures(t *testing.T) {
	want := map[Chip]struct{ version, subtype, engines, width, height, axis int }{
		M1: {7, 4, 1, 13, 29, 16384}, M2: {11, 5, 1, 13, 29, 16384}, M3: {8, 6, 1, 15, 31, 65536},
		M4: {17, 7, 1, 15, 31, 65536}, M5: {19, 9, 1, 15, 31, 65536}, M6: {24, 11, 2, 15, 31, 65536},
	}
	for c, w := range want {
		s := c.Spec()
		require.Equal(t, w.version, s.DescriptorVersion.Value, c)
		require.Equal(t, w.subtype, s.CPUSubtype.Value, c)
		require.Equal(t, w.engines, s.Engines.Value, c)
		require.Equal(t, w.width, s.KernelWidth.Value, c)
		require.Equal(t, w.height, s.KernelHeight.Value, c)
		require.Equal(t, w.axis, s.Axis.Value, c)
		require.Equal(t, c >= M3, s.Trigonometry.Value, c)
		require.Equal(t, c >= M3, s.ExactSlice.Value, c)
		require.Equal(t, 32768, s.MatmulInner.Value, c)
		require.Equal(t, c == M4 || c == M6, s.MatmulInner.Degree == Compiled, c)
		require.Equal(t, c >= M4, s.RewrittenFrom.Known(), c)
	}
	require.Equal(t, 386, M6.Spec().Chain.Value)
	require.Equal(t, Measured, M6.Spec().Chain.Degree)
	require.False(t, M3.Spec().WeightRate.Known())
	require.Equal(t, 35.0, M6.Spec().ActivationRate.Value.Middle())
	require.Equal(t, "34 to 36 (measured, study 9.4)", M6.Spec().ActivationRate.String())
	require.Equal(t, "unknown", M3.Spec().Clock.String())
	require.Equal(t, []string{"", "I", "D", "C", "M"},
		[]string{unknown.Tag(), Inferred.Tag(), Stated.Tag(), Compiled.Tag(), Measured.Tag()})
}

// A Chip in JSON is its name, and comes back as it was, also where there is none.
func TestChipsInJSON(t *testing.T) {
	for _, c := range append(All(), 0) {
		text, err := json.Marshal(struct{ Chip Chip }{c})
		require.NoError(t, err)
		var back struct{ Chip Chip }
		require.NoError(t, json.Unmarshal(text, &back), "%s", text)
		require.Equal(t, c, back.Chip)
	}
	require.Error(t, json.Unmarshal([]byte(`{"Chip":"m99"}`), &struct{ Chip Chip }{}))
}
