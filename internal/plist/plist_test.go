package plist_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/plist"
)

// tree has every type, with keys that a map would sort.
var tree = plist.Dict{
	{"z", int64(-3)}, {"a", plist.Array{true, false, 1.5, "x <&> \"y\"", uint64(math.MaxUint64)}},
	{"m", plist.Dict{}}, {"", plist.Array{}}, {"é", "☃"},
}

func TestBothFormsKeepOrderAndTypes(t *testing.T) {
	x, err := plist.XML(tree)
	require.NoError(t, err)
	back, err := plist.Read(x)
	require.NoError(t, err)
	require.Equal(t, tree, back)

	j, err := json.Marshal(tree)
	require.NoError(t, err)
	back, err = plist.Read(j)
	require.NoError(t, err)
	require.Equal(t, tree, back)
	require.True(t, strings.HasPrefix(string(j), `{"z":-3,"a":[`), "%s", j)
}

func TestGet(t *testing.T) {
	v, ok := tree.Get("z")
	require.True(t, ok)
	require.EqualValues(t, -3, v)
	_, ok = tree.Get("none")
	require.False(t, ok)
	require.Len(t, tree.Array("a"), 5)
	require.Nil(t, tree.Array("z"))
	require.Equal(t, "☃", tree.String("é"))
	require.Empty(t, tree.String("z"))
	require.NotNil(t, tree.Dict("m"))
	require.Nil(t, tree.Dict("a"))
}

func TestRefusals(t *testing.T) {
	deep := strings.Repeat("[", plist.MaxDepth+1) + strings.Repeat("]", plist.MaxDepth+1)
	deepXML := "<plist>" + strings.Repeat("<array>", plist.MaxDepth+1)
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"", "empty"},
		"spaces":       {" \n ", "empty"},
		"binary":       {"bplist00\x01", "plutil -convert xml1"},
		"no UTF-8":     {"{\"a\":\n\"\xff\"}", "line 2: not valid UTF-8"},
		"cut JSON":     {`{"a": [1, 2`, "truncated"},
		"two values":   {`{} {}`, "more than one value"},
		"twice":        {"{\"a\": 1,\n \"a\": 2}", `line 2: key "a" is given twice`},
		"deep":         {deep, "nested deeper"},
		"number":       {`{"a": 1e999}`, "not a finite number"},
		"many":         {"[" + strings.Repeat("1,", plist.MaxValues) + "1]", "more than 1048576 values"},
		"long":         {strings.Repeat(" ", plist.MaxBytes+1), "at most 16777216"},
		"no plist":     {"<dict/>", "no <plist>"},
		"no value":     {"<plist></plist>", "is empty"},
		"two in plist": {"<plist><true/><true/></plist>", "more than one value"},
		"after plist":  {"<plist><true/></plist><plist/>", "after </plist>"},
		"cut XML":      {"<plist><dict><key>a</key>", "truncated"},
		"deep XML":     {deepXML, "nested deeper"},
		"key twice": {"<plist><dict><key>a</key><true/>\n<key>a</key><true/></dict></plist>",
			`line 2: key "a" is given twice`},
		"no key":          {"<plist><dict><true/></dict></plist>", "<key> is expected"},
		"key alone":       {"<plist><dict><key>a</key></dict></plist>", "has no value"},
		"unknown element": {"<plist><set/></plist>", "<set> is not an element"},
		"nested text":     {"<plist><string>a<b/></string></plist>", "within a plain value"},
		"loose text":      {"<plist><array>text<true/></array></plist>", "between elements"},
		"bad integer":     {"<plist><integer>1.5</integer></plist>", "not a 64-bit integer"},
		"word":            {"<plist><integer>many</integer></plist>", "not a finite number"},
		"infinite":        {"<plist><real>inf</real></plist>", "not a finite number"},
		"log":             {"{\n}; ANEFModelDescription = {", "more than one value"},
		"log line":        {"\nANEFModelDescription = {", "line 2: neither JSON nor an XML property list"},
		"charset":         {`<?xml version="1.0" encoding="latin1"?><plist/>`, "save it as UTF-8"},
		"entity":          {"<plist><string>&lol;</string></plist>", "entity"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plist.Read([]byte(c.text))
			var e *plist.Error
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestWriteRefusals(t *testing.T) {
	for _, v := range []any{nil, 3 + 2i, map[string]any{}, plist.Array{nil}} {
		_, err := plist.XML(v)
		var e *plist.Error
		require.ErrorAs(t, err, &e)
	}
	var deep any = true
	for range plist.MaxDepth + 1 {
		deep = plist.Array{deep}
	}
	_, err := plist.XML(deep)
	require.ErrorContains(t, err, "nested deeper")
}

func TestReadFile(t *testing.T) {
	_, err := plist.ReadFile(t.TempDir())
	require.ErrorContains(t, err, "is a directory")
	_, err = plist.ReadFile("/dev/zero") // endless
	require.ErrorContains(t, err, "at most 16777216")
}

// A value of Read is the same after writing and reading it, except for null, which property
// lists do not have.
func FuzzRead(f *testing.F) {
	x, err := plist.XML(tree)
	require.NoError(f, err)
	j, err := json.Marshal(tree)
	require.NoError(f, err)
	for _, seed := range [][]byte{x, j, []byte("<plist><real>-0</real></plist>"), []byte(`[null, 1E2, -0]`)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := plist.Read(data)
		if err != nil {
			var e *plist.Error
			require.ErrorAs(t, err, &e)
			return
		}
		j, err := json.Marshal(v)
		require.NoError(t, err)
		back, err := plist.Read(j)
		require.NoError(t, err)
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(j), string(again))
	})
}
