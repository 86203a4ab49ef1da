package attributes_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/plist"
)

// program is a description with two procedures; edited replaces text in it.
const program = `{
 "ANEFModelDescription": {
  "ANEFModelInput16KAlignmentArray": [0, 0, 0],
  "kANEFModelInputSymbolsArrayKey": ["a", "b", "s"],
  "kANEFModelOutputSymbolsArrayKey": ["y2@output", "y@output"],
  "ANEFModelProcedures": [
   {"ANEFModelProcedureID": 1, "ANEFModelInputSymbolIndexArray": [2, 0], "ANEFModelOutputSymbolIndexArray": [1]},
   {"ANEFModelProcedureID": 0, "ANEFModelInputSymbolIndexArray": [1], "ANEFModelOutputSymbolIndexArray": [0]}
  ],
  "kANEFModelProcedureNameToIDMapKey": {"first": 1, "second": 0}
 },
 "NetworkStatusList": [
  {"Name": "second", "LiveInputList": [ENTRY("Symbol": "b")], "LiveOutputList": [ENTRY("Name": "y2@output")]},
  {"Name": "first", "LiveInputList": [ENTRY("Name": "a")], "LiveInputParamList": [],
   "LiveStateList": [ENTRY("Symbol": "s")], "LiveOutputList": [ENTRY("Symbol": "y@output", "Name": "other")]}
 ]
}`

const entry = `"Type": "Float16", "Batches": 2, "Channels": 8, "Depth": 1, "Height": 4, "Width": 32,
 "RowStride": 64, "PlaneStride": 256, "DepthStride": 2048, "BatchStride": 2048, "PlaneCount": 16, "Interleave": 1`

// edited returns program after replacing pairs of texts, each once.
func edited(t testing.TB, pairs ...string) any {
	text := strings.ReplaceAll(program, "ENTRY(", "{"+entry+", ")
	text = strings.ReplaceAll(text, ")", "}")
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, text, pairs[i])
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	v, err := plist.Read([]byte(text))
	require.NoError(t, err, text)
	return v
}

func TestProceduresAndLists(t *testing.T) {
	p, err := attributes.Read(edited(t))
	require.NoError(t, err)
	first, err := p.Find("first")
	require.NoError(t, err)
	require.Equal(t, 1, first.Number)
	names := func(tensors []attributes.Tensor) (all []string) {
		for _, t := range tensors {
			all = append(all, t.Name)
		}
		return all
	}
	require.Equal(t, []string{"a", "s"}, names(first.Inputs), "by index, including states")
	require.Equal(t, []int{0, 2}, []int{first.Inputs[0].Index, first.Inputs[1].Index})
	require.Equal(t, "LiveStateList", first.Inputs[1].List)
	require.Equal(t, []string{"y"}, names(first.Outputs))
	require.Equal(t, 1, first.Outputs[0].Index)
	require.True(t, first.Outputs[0].Output)
	require.Empty(t, first.Unplaced)
	second, err := p.Find("")
	require.NoError(t, err)
	require.Equal(t, "second", second.Name, "an empty name means procedure 0")
	_, err = p.Find("third")
	require.ErrorContains(t, err, "first, second")
}

// The compiler's status has no description: its entries are in the order of the symbols.
func TestWithoutDescription(t *testing.T) {
	text := `{"NetworkStatusList": [{"Name": "main", "LiveInputList": [{` + entry + `, "Symbol": "k"}, {` + entry +
		`, "Symbol": "q"}],
	 "LiveOutputList": [{` + entry + `, "Symbol": "y@output"}]}]}`
	v, err := plist.Read([]byte(text))
	require.NoError(t, err)
	p, err := attributes.Read(v)
	require.NoError(t, err)
	require.Equal(t, 1, tensor(t, p, "q").Index)
	any, err := p.Find("whatever")
	require.Error(t, err, "its only procedure has a name")
	require.Nil(t, any)

	// In several lists, symbols are sorted over all of them.
	v, err = plist.Read([]byte(strings.Replace(text, `"LiveOutputList"`, `"LiveStateList": [{`+entry+
		`, "Symbol": "l"}], "LiveOutputList"`, 1)))
	require.NoError(t, err)
	p, err = attributes.Read(v)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2}, []int{tensor(t, p, "k").Index, tensor(t, p, "l").Index, tensor(t, p, "q").Index})
}

func TestAbsentKeys(t *testing.T) {
	p, err := attributes.Read(edited(t, `"Depth": 1, `, ``, `"DepthStride": 2048, `, ``, `"PlaneCount": 16, `, ``,
		`, "Interleave": 1`, ``,
		`"kANEFModelProcedureNameToIDMapKey": {"first": 1, "second": 0}`, `"other": 0`))
	require.NoError(t, err)
	b := tensor(t, p, "b")
	require.Equal(t, 1, b.Layout.Depth)
	require.Equal(t, 2048, b.Layout.DepthStride)
}

// null means an absent key, and a state may be in two lists.
func TestNullAndRepeats(t *testing.T) {
	p, err := attributes.Read(edited(t, `"DepthStride": 2048`, `"DepthStride": null`,
		`"kANEFModelProcedureNameToIDMapKey": {"first": 1, "second": 0}`, `"x": 0`,
		`"LiveInputParamList": []`, `"LiveInputParamList": [{`+entry+`, "Symbol": "s"}]`))
	require.NoError(t, err)
	require.Equal(t, 2048, tensor(t, p, "b").Layout.DepthStride)
	first, err := p.Find("second")
	require.NoError(t, err, "without a map of names the procedure has the name of its network")
	require.Equal(t, 1, first.Number)
	_, err = attributes.Read(edited(t, `"Width": 32`, `"Width": null`))
	require.ErrorContains(t, err, "Width: missing")
}

// A tensor of depth 3: strides nest N, D, C, H, W.
func TestDepth(t *testing.T) {
	p, err := attributes.Read(edited(t, `"Depth": 1`, `"Depth": 3`, `"BatchStride": 2048`, `"BatchStride": 6144`))
	require.NoError(t, err)
	b := tensor(t, p, "b").Layout
	require.Equal(t, []int{2, 3, 8, 4, 32}, b.Shape)
	require.Equal(t, 2*6144, b.Bytes())
	require.True(t, b.Packed())
}

func TestFaults(t *testing.T) {
	huge := `"Channels": 1099511627776`
	for name, c := range map[string]struct {
		pairs []string
		words string
	}{
		"no networks": {[]string{`"NetworkStatusList"`, `"Networks"`}, "NetworkStatusList: missing"},
		"networks no array": {[]string{`"NetworkStatusList": [`, `"NetworkStatusList": 3, "x": [`},
			"3 where an array"},
		"network no dict": {[]string{`"NetworkStatusList": [`, `"NetworkStatusList": [7,`}, "NetworkStatusList[0]"},
		"description no dict": {[]string{`"ANEFModelDescription": {`, `"ANEFModelDescription": null, "x": {`},
			"null where a dictionary"},
		"no description": {[]string{`"ANEFModelDescription"`, `"Description"`}, "2 procedures"},
		"no procedures":  {[]string{`"ANEFModelProcedures"`, `"Procedures"`}, "ANEFModelProcedures"},
		"no names":       {[]string{`"kANEFModelInputSymbolsArrayKey"`, `"Names"`}, "kANEFModelInputSymbolsArrayKey"},
		"name no string": {[]string{`["a", "b", "s"]`, `["a", 4, "s"]`}, "kANEFModelInputSymbolsArrayKey[1]"},
		"no indices": {[]string{`"ANEFModelInputSymbolIndexArray"`, `"Indices"`},
			"ANEFModelProcedures[0].ANEFModelInputSymbolIndexArray"},
		"index beyond":     {[]string{`[2, 0]`, `[3, 0]`}, "3 is not an index"},
		"index negative":   {[]string{`[2, 0]`, `[-1, 0]`}, "-1 is not an index"},
		"index no number":  {[]string{`[2, 0]`, `["2", 0]`}, "is not an index"},
		"index a fraction": {[]string{`[2, 0]`, `[1.5, 0]`}, "1.5 is not an index"},
		"index twice":      {[]string{`[2, 0]`, `[2, 2]`}, "symbol 2"},
		"procedure twice":  {[]string{`"ANEFModelProcedureID": 1`, `"ANEFModelProcedureID": 0`}, "procedure 0"},
		"procedure 129": {[]string{`"ANEFModelProcedureID": 1`, `"ANEFModelProcedureID": 129`},
			"outside 0 to 128"},
		"procedure two names": {[]string{`"second": 0`, `"second": 1`}, "two names"},
		"procedure name number": {[]string{`"second": 0`, `"second": "0"`},
			"kANEFModelProcedureNameToIDMapKey.second"},
		"symbol twice": {[]string{`"LiveInputParamList": []`, `"LiveInputParamList": [{"Symbol": "a"}]`},
			`"a" is given twice`},
		"list no array": {[]string{`"LiveInputParamList": []`, `"LiveInputParamList": true`},
			"LiveInputParamList: true"},
		"entry no dict":        {[]string{`"LiveInputParamList": []`, `"LiveInputParamList": [[]]`}, "an array of 0"},
		"no type":              {[]string{`"Type": "Float16", `, ``}, "has no Type"},
		"type no string":       {[]string{`"Type": "Float16"`, `"Type": 16`}, "Type: 16"},
		"unknown type":         {[]string{`"Type": "Float16"`, `"Type": "BFloat16"`}, "known types are Bool"},
		"no width":             {[]string{`"Width": 32,`, ``}, "Width: missing"},
		"no batch stride":      {[]string{`"BatchStride": 2048, `, ``}, "BatchStride: missing"},
		"depth without stride": {[]string{`"Depth": 1`, `"Depth": 2`, `"DepthStride": 2048, `, ``}, "no DepthStride"},
		"width a string":       {[]string{`"Width": 32`, `"Width": "32"`}, "where a whole number"},
		"width a fraction":     {[]string{`"Width": 32`, `"Width": 32.5`}, "32.5"},
		"width a float":        {[]string{`"Width": 32`, `"Width": 32.0`}, "32.0"},
		"width a boolean":      {[]string{`"Width": 32`, `"Width": true`}, "true"},
		"width 0":              {[]string{`"Width": 32`, `"Width": 0`}, "0 is outside 1"},
		"negative stride":      {[]string{`"RowStride": 64`, `"RowStride": -64`}, "-64 is outside 0"},
		"huge count":           {[]string{`"Channels": 8`, huge}, "1 TiB"},
		"beyond 64 bits":       {[]string{`"Width": 32`, `"Width": 18446744073709551615`}, "18446744073709551615"},
		"beyond any bits":      {[]string{`"Width": 32`, `"Width": 1e30`}, "1e+30"},
		"rows overlap":         {[]string{`"RowStride": 64`, `"RowStride": 32`}, "strides overlap: RowStride is 32"},
		"planes overlap": {[]string{`"PlaneStride": 256`, `"PlaneStride": 128`},
			"strides overlap: PlaneStride is 128"},
		"batches overlap": {[]string{`"BatchStride": 2048`, `"BatchStride": 1024`},
			"strides overlap: BatchStride is 1024"},
		"depth in channels": {[]string{`"Depth": 1`, `"Depth": 8`, `"DepthStride": 2048`, `"DepthStride": 256`},
			"overlap"},
		"ragged": {[]string{`"PlaneStride": 256`, `"PlaneStride": 257`, `"BatchStride": 2048`,
			`"BatchStride": 4096`}, "not a multiple"},
		"interleaved":     {[]string{`"Interleave": 1`, `"Interleave": 4`}, "4 channels interleaved"},
		"interleave 0":    {[]string{`"Interleave": 1`, `"Interleave": 0`}, "Interleave"},
		"an image":        {[]string{`"Symbol": "b"`, `"Symbol": "b", "4CCFormat": 875704438`}, "420v"},
		"a strange image": {[]string{`"Symbol": "b"`, `"Symbol": "b", "4CCFormat": 7`}, "0x7"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := attributes.Read(edited(t, c.pairs...))
			var e *attributes.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Path)
			require.ErrorIs(t, err, ane.ErrAttributes)
			require.ErrorContains(t, err, c.words)
		})
	}
	for _, v := range []any{nil, "text", plist.Array{}, true, int64(3)} {
		_, err := attributes.Read(v)
		require.ErrorContains(t, err, "where a dictionary is expected")
	}
}

// Entries without names have to be as many as the symbols.
func TestNamelessEntriesHaveToBeComplete(t *testing.T) {
	_, err := attributes.Read(edited(t, `, "Symbol": "b"`, `}, {`+entry))
	require.ErrorContains(t, err, "2 entries without Symbol or Name for 1 symbols")
}

func TestListsAreBounded(t *testing.T) {
	many := strings.Repeat(`{},`, 255) + `{}`
	_, err := attributes.Read(edited(t, `"LiveInputParamList": []`, `"LiveInputParamList": [`+many+`]`))
	require.ErrorContains(t, err, "257 inputs or outputs, at most 255")
	list := strings.Repeat(`{},`, 129) + `{}`
	_, err = attributes.Read(edited(t, `"NetworkStatusList": [`, `"NetworkStatusList": [`+list+`,`))
	require.ErrorContains(t, err, "132 networks, want 1 to 129")
}

// Read refuses a document with an *Error, or every tensor can be placed.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"m1-status-projector", "ironmill-identity-1x4x1x4-fp16",
		"m1-hwx-two-procedures-420v"} {
		text, err := json.Marshal(dump(f, name))
		require.NoError(f, err)
		f.Add(text)
	}
	text, err := json.Marshal(edited(f))
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := plist.Read(data)
		if err != nil {
			return
		}
		found, ok := attributes.Search(v)
		if !ok {
			return
		}
		p, err := attributes.Read(found)
		if err != nil {
			var e *attributes.Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.ErrorIs(t, err, ane.ErrAttributes)
			return
		}
		for _, q := range p.Procedures {
			for _, tensor := range append(q.Inputs, q.Outputs...) {
				require.NoError(t, tensor.Layout.Check())
				require.GreaterOrEqual(t, tensor.Layout.Bytes(), tensor.Layout.RowBytes())
				require.LessOrEqual(t, tensor.Layout.Bytes(), 2*ane.MaxBytes)
			}
		}
	})
}
