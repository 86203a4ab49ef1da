package standin

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/plist"
)

// decode parses an XML property list. Numbers become int.
func decode(t testing.TB, text []byte) map[string]any {
	t.Helper()
	v, err := plist.Read(text)
	require.NoError(t, err)
	return unordered(v).(map[string]any)
}

// unordered returns a value without the order of its keys.
func unordered(v any) any {
	switch v := v.(type) {
	case plist.Dict:
		m := map[string]any{}
		for _, e := range v {
			m[e.Key] = unordered(e.Value)
		}
		return m
	case plist.Array:
		list := []any{}
		for _, item := range v {
			list = append(list, unordered(item))
		}
		return list
	case int64:
		return int(v)
	}
	return v
}

// entryOf returns the entry in LiveInputList or LiveOutputList of a tensor of
// type form.
func entryOf(name string) map[string]any {
	return map[string]any{"Name": name, "Symbol": name, "Type": "Float16", "Batches": 1, "Channels": 4, "Depth": 1,
		"Height": 1, "Width": 32,
		"BatchStride": 256, "PlaneStride": 64, "PlaneCount": 4, "DepthStride": 256, "RowStride": 64, "Interleave": 1}
}

// TestAttributesOfTwoProcedures: names that both have are two symbols, as in m1-hwx-two-procedures-420v.
func TestAttributesOfTwoProcedures(t *testing.T) {
	s, _, h := compiled(t, 0, pair2)
	type list = []any
	type dict = map[string]any
	require.Equal(t, dict{
		"NetworkStatusList": list{
			dict{"Name": "first", "LiveInputList": list{entryOf("a"), entryOf("z")},
				"LiveOutputList": list{entryOf("late@output")}},
			dict{"Name": "second", "LiveInputList": list{entryOf("m"), entryOf("z")},
				"LiveOutputList": list{entryOf("early@output"), entryOf("late@output")}},
		},
		"ANEFModelDescription": dict{
			"kANEFModelInputSymbolsArrayKey":    list{"a", "m", "z", "z"},
			"kANEFModelOutputSymbolsArrayKey":   list{"early@output", "late@output", "late@output"},
			"ANEFModelInput16KAlignmentArray":   list{0, 0, 0, 0},
			"ANEFModelOutput16KAlignmentArray":  list{0, 0, 0},
			"kANEFModelProcedureNameToIDMapKey": dict{"first": 0, "second": 1},
			"ANEFModelProcedures": list{
				dict{"ANEFModelProcedureID": 0, "ANEFModelInputSymbolIndexArray": list{0, 2},
					"ANEFModelOutputSymbolIndexArray": list{1}},
				dict{"ANEFModelProcedureID": 1, "ANEFModelInputSymbolIndexArray": list{1, 3},
					"ANEFModelOutputSymbolIndexArray": list{0, 2}},
			},
		},
	}, decode(t, s.Attributes(h)))
	require.Nil(t, s.Attributes(h+1))
}

// TestAttributesGolden compares the exact text, which other readers of property
// lists get.
func TestAttributesGolden(t *testing.T) {
	s, _, h := compiled(t, 0, addition)
	golden, err := os.ReadFile("testdata/attributes.plist")
	require.NoError(t, err)
	require.Equal(t, string(golden), string(s.Attributes(h)))
}

func TestEveryTypeAndRowPadding(t *testing.T) {
	for d, name := range map[mil.DType]string{mil.FP16: "Float16", mil.FP32: "Float32", mil.Bool: "Bool",
		mil.Int8:  "Int8",
		mil.UInt8: "UInt8", mil.Int16: "Int16", mil.UInt16: "UInt16", mil.Int32: "Int32", mil.UInt32: "UInt32"} {
		x := tensor{"x", d, []int{2, 3, 5, 7}}
		s, ok := placementOf(x)
		require.True(t, ok)
		require.Equal(t, map[string]any{"Name": "x", "Symbol": "x", "Type": name, "Batches": 2, "Channels": 3,
			"Depth": 1, "Height": 5, "Width": 7,
			"BatchStride": 3 * 5 * 64, "PlaneStride": 5 * 64, "PlaneCount": 6, "DepthStride": 3 * 5 * 64,
			"RowStride": 64, "Interleave": 1},
			unordered(normal(t, liveEntry(port{tensor: x, placement: s}, "", liveKeys))))
	}
	require.Len(t, typeNames, 9)
}

// normal encodes and decodes a value.
func normal(t testing.TB, v any) any {
	text, err := plist.XML(v)
	require.NoError(t, err)
	v, err = plist.Read(text)
	require.NoError(t, err)
	return v
}

// TestOutputsAreSortedWithTheirSuffix: a symbol's index is by its name with the
// suffix: '@' sorts before letters and after digits.
func TestOutputsAreSortedWithTheirSuffix(t *testing.T) {
	s, _, h := compiled(t, 0, functions(`func main<ios18>(T x) {
		T y = add(x = x, y = x)[name = string("y")]; T y2 = mul(x = x, y = x)[name = string("y2")]; T B = sub(x = x, y = x)[name = string("B")];
	} -> (y, y2, B);`))
	root := decode(t, s.Attributes(h))
	require.Equal(t, []any{"B@output", "y2@output", "y@output"},
		root["ANEFModelDescription"].(map[string]any)["kANEFModelOutputSymbolsArrayKey"])
	var names []any
	for _, e := range root["NetworkStatusList"].([]any)[0].(map[string]any)["LiveOutputList"].([]any) {
		names = append(names, e.(map[string]any)["Name"])
	}
	require.Equal(t, []any{"B@output", "y2@output", "y@output"}, names)
}

// TestPlacementAgreesWithAne compares the stand-in's placement rule with that of
// package ane.
func TestPlacementAgreesWithAne(t *testing.T) {
	shapes := [][]int{{}}
	for w := 1; w <= 70; w++ {
		shapes = append(shapes, []int{w}, []int{3, w}, []int{2, 3, w}, []int{2, 3, 5, w}, []int{3, 1, 8, 5, w},
			[]int{2, 3, 4, 5, w}, []int{1, 5, 1, 1, w})
	}
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Bool} {
		for _, shape := range shapes {
			l, err := ane.NewLayout("x", d, shape...)
			require.NoError(t, err)
			s, ok := placementOf(tensor{"x", d, shape})
			require.True(t, ok)
			require.Equal(t, [...]int64{int64(l.Batches), int64(l.Depth), int64(l.Channels), int64(l.Height),
				int64(l.Width)}, s.lengths, "%v", shape)
			require.Equal(t, [...]int64{int64(l.BatchStride), int64(l.DepthStride), int64(l.PlaneStride),
				int64(l.RowStride), int64(d.Size())}, s.strides, "%v", shape)
			n, ok := s.bytes()
			require.True(t, ok)
			require.EqualValues(t, l.Bytes(), n)
			x, ok := transferOf(port{tensor: tensor{"x", d, shape}, placement: s}, l)
			require.True(t, ok && x.agrees, "%v needs no copy", shape)
		}
	}
}
