package guestcode

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

const many = "\xff\xff\xff\xff\x0f" // 4,294,967,295

func sized(body string) string { return string(binary.AppendUvarint(nil, uint64(len(body)))) + body }

// A few bytes that say of a list, a text or locals that there are 4,294,967,295 take no memory for them.
func TestNumbersBeyondTheBinaryAreRefused(t *testing.T) {
	for name, s := range map[string]Section{
		"types":               {Types, []byte(many)},
		"parameters":          {Types, []byte("\x01\x60" + many)},
		"results":             {Types, []byte("\x01\x60\x00" + many)},
		"a group of types":    {Types, []byte("\x01\x4e" + many)},
		"parameters in one":   {Types, []byte("\x01\x4e\x01\x60" + many)},
		"imports":             {Imports, []byte(many)},
		"name of a module":    {Imports, []byte("\x01" + many)},
		"name of an import":   {Imports, []byte("\x01\x01m" + many)},
		"functions":           {Funcs, []byte(many)},
		"globals":             {Globals, []byte(many)},
		"exports":             {Exports, []byte(many)},
		"name of an export":   {Exports, []byte("\x01" + many)},
		"segments":            {Elements, []byte(many)},
		"elements":            {Elements, []byte("\x01\x00\x41\x00\x0b" + many)},
		"passive elements":    {Elements, []byte("\x01\x01\x00" + many)},
		"elements of a table": {Elements, []byte("\x01\x02\x00\x41\x00\x0b\x00" + many)},
		"declared elements":   {Elements, []byte("\x01\x03\x00" + many)},
		"expressions":         {Elements, []byte("\x01\x04\x41\x00\x0b" + many)},
		"passive expressions": {Elements, []byte("\x01\x05\x70" + many)},
		"expressions of a table": {
			Elements, []byte("\x01\x06\x00\x23\x00\x0b\x70" + many),
		},
		"declared expressions": {Elements, []byte("\x01\x07\x70" + many)},
		"another segment":      {Elements, []byte("\x01\x08" + many)},
		"code":                 {Code, []byte(many)},
		"a body":               {Code, []byte("\x01" + many)},
		"data":                 {Data, []byte(many)},
		"active data":          {Data, []byte("\x01\x00\x41\x00\x0b" + many)},
		"passive data":         {Data, []byte("\x01\x01" + many)},
		"data of a memory":     {Data, []byte("\x01\x02\x00\x41\x00\x0b" + many)},
		"name of a section":    {Custom, []byte(many)},
		"name of the module":   {Custom, []byte(sized("name") + "\x00\x00" + many)},
		"names of functions":   {Custom, []byte(sized("name") + "\x01\x00" + many)},
		"names of locals":      {Custom, []byte(sized("name") + "\x02\x00\x01\x00" + many)},
		"other names":          {Custom, []byte(sized("name") + "\x09" + many)},
	} {
		require.ErrorIs(t, Check([]Section{s}), ErrCut, name)
	}
}

// Locals are bounded by function and together: they are counted, and not in the binary one by one.
func TestLocalsAreBounded(t *testing.T) {
	code := func(functions int, locals string) []Section {
		body := string(binary.AppendUvarint(nil, uint64(functions)))
		for range functions {
			body += sized(locals + "\x0b")
		}
		return []Section{{Code, []byte(body)}}
	}
	most := "\x01" + string(binary.AppendUvarint(nil, maxLocals)) + "\x7f"
	require.NoError(t, Check(code(maxAllLocals/maxLocals, most)))
	require.ErrorContains(t, Check(code(maxAllLocals/maxLocals+1, most)), "4200000")
	require.ErrorContains(t, Check(code(1, "\x02\x01\x7e\xd0\x86\x03\x7f")), "50001 locals")
	require.ErrorContains(t, Check(code(1, "\x01"+many+"\x7f")), "4294967295 locals")
	require.ErrorIs(t, Check(code(1, "\x05\x01\x7e")), ErrCut)
	require.NoError(t, Check(code(2, "\x01\x01\x63\x70")), "a reference")
}

// What a well-formed binary has is no fault, whatever stands in it.
func TestWellFormedSections(t *testing.T) {
	for name, s := range map[string]Section{
		"types":    {Types, []byte("\x02\x60\x02\x7f\x64\x70\x01\x7e\x4e\x01\x60\x00\x00")},
		"imports":  {Imports, []byte("\x01\x01m\x01n\x00\x00")},
		"globals":  {Globals, []byte("\x02\x7f\x01\x41\x07\x41\x08\x6a\x0b\x7b\x00\xfd\x0c0123456789abcdef\x0b")},
		"floats":   {Globals, []byte("\x02\x7d\x01\x43abcd\x0b\x7c\x01\x44\x0b\x0bcdefgh\x0b")},
		"refs":     {Globals, []byte("\x02\x70\x01\xd0\x70\x0b\x70\x01\xd2\x00\x0b")},
		"elements": {Elements, []byte("\x02\x00\x41\x00\x0b\x01\x05\x07\x70\x01\xd2\x05\x0b")},
		"data":     {Data, []byte("\x02\x01\x02ab\x00\x23\x00\x0b\x00")},
		"names":    {Custom, []byte(sized("name") + "\x00\x02\x01m\x01\x04\x01\x00\x01f\x09\x01x")},
		"locals":   {Custom, []byte(sized("name") + "\x02\x06\x01\x00\x01\x00\x01l")},
		"other":    {Custom, []byte(sized("producers") + many)},
	} {
		require.NoError(t, Check([]Section{s}), name)
	}
	memory := Section{Imports, []byte("\x01\x01m\x01n\x02\x00\x01")}
	require.ErrorContains(t, Check([]Section{memory}), "n of m, which is not a function")
}

func TestSplitAndJoin(t *testing.T) {
	text := Header + "\x01" + sized("\x00") + "\x00" + sized("abc")
	all, err := Split([]byte(text))
	require.NoError(t, err)
	require.Equal(t, []Section{{Types, []byte{0}}, {Custom, []byte("abc")}}, all)
	require.Equal(t, text, string(Join(all)))
	for _, bad := range []string{"", "nonsense", "\x00asm\x0d\x00\x01\x00", text[:len(text)-1], Header + "\x01"} {
		_, err := Split([]byte(bad))
		require.Error(t, err, "%q", bad)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(Header + "\x09\x09\x01\x00\x41\x00\x0b\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Split(text)
		if err != nil {
			return
		}
		again, err := Split(Join(all))
		require.NoError(t, err)
		require.Equal(t, all, again)
		_ = Check(all)
	})
}
