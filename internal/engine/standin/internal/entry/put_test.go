package entry

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestMessagesAreCutAtAWholeCharacter(t *testing.T) {
	const text = "aé☃"
	for room, expected := range map[int]string{0: "", 1: "", 2: "a", 3: "a", 4: "aé", 5: "aé", 6: "aé", 7: text,
		9: text} {
		mem := bytes.Repeat([]byte{0xff}, room)
		put(mem, text)
		message, _, ended := bytes.Cut(mem, []byte{0})
		require.Equal(t, expected, string(message), "room for %d bytes", room)
		require.Equal(t, room > 0, ended)
	}
}

func FuzzPut(f *testing.F) {
	f.Add("", 0)
	f.Add("é", 2)
	f.Add("\xff\x80\x80", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		room := make([]byte, max(0, n%4096))
		put(room, text)
		if len(room) == 0 {
			return
		}
		message, _, ended := bytes.Cut(room, []byte{0})
		text, _, _ = strings.Cut(text, "\x00")
		require.True(t, ended)
		require.True(t, strings.HasPrefix(text, string(message)))
		if utf8.ValidString(text) {
			require.True(t, utf8.Valid(message))
		}
	})
}
