package mil

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// token kinds. Punctuation is its own character.
const (
	tokEOF rune = -(iota + 1)
	tokIllegal
	tokIdent
	tokNumber
	tokString
	tokArrow
)

// token is one word of the text. For a string, text is the value.
type token struct {
	kind rune
	pos  Pos
	text string
}

func (t token) is(w string) bool { return t.kind == tokIdent && t.text == w }

// String describes t for messages.
func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "end of file"
	case tokIllegal:
		return "illegal text"
	case tokString:
		return "string " + quoteShort(t.text)
	case tokArrow:
		return `"->"`
	case tokIdent, tokNumber:
		return quoteShort(t.text)
	default:
		return strconv.Quote(string(t.kind))
	}
}

// maxShown is the number of bytes of a text that a message shows.
const maxShown = 60

// shorten cuts s for a message.
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func quoteShort(s string) string { return strconv.Quote(shorten(s)) }

// reserved reports whether s is a reserved word: it can never name a value, because
// the grammar reads it as something else in the place of a name.
func reserved(s string) bool {
	switch s {
	case "true", "false", "inf", "nan", "const", "func", "program", "return", "BLOBFILE":
		return true
	default:
		return false
	}
}

// identifier reports whether s has the form of a name: a letter or underscore,
// then letters, digits and underscores, all ASCII.
func identifier(s string) bool {
	return s != "" && in(s[0], letters) && identLen(s) == len(s)
}

// identLen is the length of the run of name characters at the start of s.
func identLen(s string) int { return span(s, letters|digits) }

// marks are the tokens of one character.
const marks = "()[]{}<>,;=:?"

// class is a set of ASCII characters.
type class uint8

const (
	digits class = 1 << iota
	octals
	hexDigits
	letters // and the underscore
)

var classes = func() (of [256]class) {
	for set, members := range map[class]string{digits: "0123456789", octals: "01234567",
		hexDigits: "0123456789abcdefABCDEF", letters: "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		for _, c := range []byte(members) {
			of[c] |= set
		}
	}
	return of
}()

func in(c byte, set class) bool { return classes[c]&set != 0 }

// span is the length of the run at the start of s that is in a set.
func span(s string, set class) int {
	n := 0
	for n < len(s) && in(s[n], set) {
		n++
	}
	return n
}

// floatLooking reports whether the number s is written as a fraction, not as an integer.
func floatLooking(s string) bool {
	return strings.ContainsAny(s, ".xXpPeE") || strings.HasSuffix(s, "inf") || strings.HasSuffix(s, "nan")
}
