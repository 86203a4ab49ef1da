package standin

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// decode reads an XML property list back.
func decode(t testing.TB, text []byte) map[string]any {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	var read func(xml.StartElement) any
	// next returns the next element inside of the open one, nil at its end.
	next := func(content *string) any {
		for {
			token, err := d.Token()
			require.NoError(t, err)
			switch token := token.(type) {
			case xml.StartElement:
				return read(token)
			case xml.CharData:
				*content += string(token)
			case xml.EndElement:
				return nil
			}
		}
	}
	type key string
	read = func(e xml.StartElement) any {
		var content string
		switch e.Name.Local {
		case "dict":
			m := map[string]any{}
			for k := next(&content); k != nil; k = next(&content) {
				name := string(k.(key))
				require.NotContains(t, m, name)
				m[name] = next(&content)
			}
			return m
		case "array":
			list := []any{}
			for v := next(&content); v != nil; v = next(&content) {
				list = append(list, v)
			}
			return list
		}
		require.Nil(t, next(&content), "%s holds text only", e.Name.Local)
		switch e.Name.Local {
		case "key":
			return key(content)
		case "string":
			return content
		case "integer":
			n, err := strconv.Atoi(content)
			require.NoError(t, err)
			return n
		case "true", "false":
			require.Empty(t, content)
			return e.Name.Local == "true"
		}
		t.Fatalf("element %s", e.Name.Local)
		return nil
	}
	for {
		token, err := d.Token()
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			require.Equal(t, "plist", e.Name.Local)
			var content string
			root := next(&content)
			require.Nil(t, next(&content))
			_, err := d.Token() // the line's end
			require.NoError(t, err)
			_, err = d.Token()
			require.ErrorIs(t, err, io.EOF)
			return root.(map[string]any)
		}
	}
}

// tensor is an entry of LiveInputList or LiveOutputList of form.
func tensor(name string) map[string]any {
	return map[string]any{"Name": name, "Type": "Float16", "Batches": 1, "Channels": 4, "Depth": 1, "Height": 1, "Width": 32,
		"BatchStride": 256, "PlaneStride": 64, "PlaneCount": 4, "DepthStride": 64, "RowStride": 64, "Interleave": 1}
}

func TestAttributesOfTwoProcedures(t *testing.T) {
	s, _, h := compiled(t, 0, pair2)
	type list = []any
	type dict = map[string]any
	require.Equal(t, dict{
		"NetworkStatusList": list{
			dict{"Name": "first", "LiveInputList": list{tensor("a"), tensor("z")}, "LiveOutputList": list{tensor("late")}},
			dict{"Name": "second", "LiveInputList": list{tensor("m"), tensor("z")}, "LiveOutputList": list{tensor("early"), tensor("late")}},
		},
		"ANEFModelDescription": dict{
			"kANEFModelInputSymbolsArrayKey":    list{"a", "m", "z"},
			"kANEFModelOutputSymbolsArrayKey":   list{"early@output", "late@output"},
			"ANEFModelInput16KAlignmentArray":   list{false, false, false},
			"ANEFModelOutput16KAlignmentArray":  list{false, false},
			"kANEFModelProcedureNameToIDMapKey": dict{"first": 0, "second": 1},
			"ANEFModelProcedures": list{
				dict{"ANEFModelProcedureID": 0, "ANEFModelInputSymbolIndexArray": list{0, 2}, "ANEFModelOutputSymbolIndexArray": list{1}},
				dict{"ANEFModelProcedureID": 1, "ANEFModelInputSymbolIndexArray": list{1, 2}, "ANEFModelOutputSymbolIndexArray": list{0, 1}},
			},
		},
	}, decode(t, s.attributes(h)))
	require.Nil(t, s.attributes(h+1))
}

// The text itself, which other readers of property lists meet.
func TestAttributesGolden(t *testing.T) {
	s, _, h := compiled(t, 0, addition)
	golden, err := os.ReadFile("testdata/attributes.plist")
	require.NoError(t, err)
	require.Equal(t, string(golden), string(s.attributes(h)))
}

func TestEveryTypeAndRowPadding(t *testing.T) {
	for d, name := range map[mil.DType]string{mil.FP16: "Float16", mil.FP32: "Float32", mil.Bool: "Bool", mil.Int8: "Int8",
		mil.UInt8: "UInt8", mil.Int16: "Int16", mil.UInt16: "UInt16", mil.Int32: "Int32", mil.UInt32: "UInt32"} {
		l, err := ane.NewLayout("x", d, 2, 3, 5, 7)
		require.NoError(t, err)
		root := decode(t, encode([]pair{{"l", live([]port{{layout: l}})}}))
		require.Equal(t, map[string]any{"Name": "x", "Type": name, "Batches": 2, "Channels": 3, "Depth": 1, "Height": 5, "Width": 7,
			"BatchStride": 3 * 5 * 64, "PlaneStride": 5 * 64, "PlaneCount": 3, "DepthStride": l.DepthStride, "RowStride": 64, "Interleave": 1},
			root["l"].([]any)[0])
	}
	require.Len(t, typeNames, 9)
}

// A symbol's index is by its bare name: with the suffix, a1@output would stand
// before a@output.
func TestOutputsAreSortedWithoutTheirSuffix(t *testing.T) {
	s, _, h := compiled(t, 0, functions(`func main<ios18>(T x) {
		T a1 = add(x = x, y = x)[name = string("a1")]; T a = mul(x = x, y = x)[name = string("a")]; T B = sub(x = x, y = x)[name = string("B")];
	} -> (a1, a, B);`))
	description := decode(t, s.attributes(h))["ANEFModelDescription"].(map[string]any)
	require.Equal(t, []any{"B@output", "a@output", "a1@output"}, description["kANEFModelOutputSymbolsArrayKey"])
}

func TestPropertyListsEscape(t *testing.T) {
	wild := "<&>\"' ]]> é\n\t"
	require.Equal(t, map[string]any{wild: []any{wild, true, -3}}, decode(t, encode([]pair{{wild, []any{wild, true, -3}}})))
	require.NotContains(t, string(encode([]pair{{"k", "a\x00b"}})), "\x00", "XML has no such character")
	require.Panics(t, func() { encode([]pair{{"k", 1.5}}) })
}
