package actor

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module returns a binary with one function of the given code, and of the given globals.
func module(code []byte, globals ...string) []byte {
	section := func(id byte, body string) string {
		return string(binary.AppendUvarint([]byte{id}, uint64(len(body)))) + body
	}
	body := "\x00" + string(code) + "\x0b"
	code = append(binary.AppendUvarint([]byte{1}, uint64(len(body))), body...)
	return []byte("\x00asm\x01\x00\x00\x00" +
		section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(4, "\x01\x70\x00\x02") +
		section(5, "\x01\x00\x01") +
		section(6, string(rune(len(globals)))+strings.Join(globals, "")) + section(7, "\x01\x01f\x00\x00") +
		section(10, string(code)))
}

// oneFunction is a binary whose one function, of a type and a body, is exported by a name. It has no memory.
func oneFunction(kind, name, body string) []byte {
	sized := func(s string) string { return string(rune(len(s))) + s }
	return []byte("\x00asm\x01\x00\x00\x00" + "\x01" + sized("\x01\x60"+kind) + "\x03" + sized("\x01\x00") +
		"\x07" + sized("\x01"+sized(name)+"\x00\x00") + "\x0a" + sized("\x01"+sized("\x00"+body+"\x0b")))
}

func TestMutableGlobalsAreExported(t *testing.T) {
	text := module(nil, "\x7f\x01\x41\x07\x0b", "\x7f\x00\x41\x07\x0b",
		"\x7c\x01\x44\x00\x00\x00\x00\x00\x00\x00\x0b\x0b", "\x7e\x01\x42\xff\x0b\x0b")
	e, err := expose(text)
	require.NoError(t, err)
	require.Equal(t, []global{{0, 0x7f}, {2, 0x7c}, {3, 0x7e}}, e.globals)
	require.Contains(t, string(e.text), "anekit:global:3\x03\x03")
	_, err = expose(e.text)
	require.ErrorContains(t, err, "exports anekit:global:0 itself")
	e, err = expose(module(nil))
	require.NoError(t, err)
	require.Empty(t, e.globals)
}

// What a snapshot could not hold is refused.
func TestGuestsThatCannotBeFrozen(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		why  string
	}{
		"no binary":  {[]byte("nonsense"), "not a WebAssembly"},
		"no exports": {[]byte("\x00asm\x01\x00\x00\x00"), "exports nothing"},
		"reference":  {module(nil, "\x70\x01\xd0\x70\x0b"), "reference or a vector"},
		"vector":     {module(nil, "\x7b\x01\xfd\x0c0123456789abcdef\x0b"), "reference or a vector"},
		"table.set":  {module([]byte("\x41\x00\xd0\x70\x26\x00")), "sets an element"},
		"table.init": {module([]byte("\xfc\x0c\x00\x00")), "initializes a table"},
		"table.copy": {module([]byte("\xfc\x0e\x00\x00")), "copies elements"},
		"table.grow": {module([]byte("\xfc\x0f\x00")), "grows a table"},
		"table.fill": {module([]byte("\xfc\x11\x00")), "fills a table"},
		"data.drop":  {module([]byte("\xfc\x09\x00")), "drops a data segment"},
		"elem.drop":  {module([]byte("\xfc\x0d\x00")), "drops an element segment"},
		"tail call":  {module([]byte("\x12\x00")), "tail calls"},
		"unknown":    {module([]byte("\xff")), "instruction 0xff"},
		"imported memory": {
			[]byte("\x00asm\x01\x00\x00\x00\x02\x08\x01\x01m\x01n\x02\x00\x01\x07\x01\x00"), "not a function",
		},
	} {
		_, err := expose(c.text)
		require.ErrorContains(t, err, c.why, name)
	}
	// Constants whose bytes are those of the instructions above change nothing.
	_, err := expose(module([]byte("\x41\x26\x1a\x42\xfc\x09\x1a\x44\xfc\x09\xfc\x0d\x26\x26\x26\x26\x1a" +
		"\xfd\x0c\x26\xfc\x090123456789abc\x1a")))
	require.NoError(t, err)
}

// A binary that is cut off is refused, or is another one if it is cut between sections.
func TestCutBinaries(t *testing.T) {
	whole := 0
	for n := range talker {
		if _, err := expose(talker[:n]); err == nil {
			whole++
		}
	}
	require.LessOrEqual(t, whole, 3, "after exports, code and data")
}

func FuzzExpose(f *testing.F) {
	f.Add(talker)
	f.Add(module([]byte("\x26\x00"), "\x7f\x01\x41\x07\x0b"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = expose(text) })
}
