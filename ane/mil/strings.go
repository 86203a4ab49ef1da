package mil

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unquote reads the string whose opening quote is s[0], with the escapes of C. n is the length with both quotes. For a
// fault, at is its offset in s, and n covers the rest of the string or of the line.
func unquote(s string) (value string, n, at int, msg, hint string) {
	i, start := 1, 1 // start of the bytes that are not copied yet
	var b strings.Builder
	fail := func(off int, m, h string) {
		if msg == "" {
			at, msg, hint = off, m, h
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\n' {
		r, w := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, w = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == '\\':
			b.WriteString(s[start:i])
			used, known := escape(&b, s[i:])
			if known != "" {
				fail(i, "unknown or malformed escape "+quoteShort(s[i:i+used]), known)
			}
			start = i + used
		case r == 0:
			fail(i, "NUL byte in a string", `write it as \0`)
		case r == utf8.RuneError && w == 1:
			fail(i, fmt.Sprintf("byte 0x%02x is not valid UTF-8", s[i]),
				fmt.Sprintf(`save the text as UTF-8, or write the byte as \%03o`, s[i]))
		}
		i = max(i+w, start)
	}
	switch {
	case i == len(s):
		fail(0, "string is not closed", `close it with "`)
		return "", i, at, msg, hint
	case s[i] == '\n':
		fail(0, "string is not closed", `close it with " on the same line; a line break inside is written \n`)
		return "", i, at, msg, hint
	case start == 1:
		return s[1:i], i + 1, at, msg, hint
	}
	b.WriteString(s[start:i])
	return b.String(), i + 1, at, msg, hint
}

// escape reads the escape sequence at the start of s into b and returns its length. A non-empty hint means a fault.
func escape(b *strings.Builder, s string) (n int, hint string) {
	const known = `the escapes are \n \t \r \a \b \f \v \\ \" \' \? \ooo \xhh \uhhhh \Uhhhhhhhh`
	if len(s) < 2 || s[1] == '\n' {
		return 1, known
	}
	if i := strings.IndexByte(`abfnrtv\"'?`, s[1]); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v\\\"'?"[i])
		return 2, ""
	}
	start, set, base, most, hint := 1, octals, 8, 3, `an octal escape ends at \377`
	wide := s[1] == 'u' || s[1] == 'U'
	switch {
	case s[1] == 'x':
		start, set, base, most = 2, hexDigits, 16, len(s)
		hint = `in C \x takes every hexadecimal digit that follows; write the byte in octal, such as \101`
	case wide:
		start, set, base, most = 2, hexDigits, 16, 4
		if s[1] == 'U' {
			most = 8
		}
		hint = `\u takes four hexadecimal digits and \U eight, naming a Unicode character`
	case !in(s[1], octals):
		_, w := utf8.DecodeRuneInString(s[1:])
		return 1 + w, known
	}
	n = start + span(s[start:min(len(s), start+most)], set)
	v, err := strconv.ParseUint(s[start:n], base, 32)
	switch {
	case err == nil && wide && n == start+most && utf8.ValidRune(rune(v)):
		b.WriteRune(rune(v))
	case err == nil && !wide && v <= 0xff:
		b.WriteByte(byte(v))
	default:
		return n, hint
	}
	return n, ""
}

// quote writes s as a MIL string: printable UTF-8 unchanged, everything else escaped. Octal escapes always have three
// digits, so that a digit after an escape is not read as part of it.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || badByte(s[i:], r):
			fmt.Fprintf(&b, `\%03o`, s[i])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// badByte reports whether r, the first rune of s, stands for a byte that is no UTF-8.
func badByte(s string, r rune) bool {
	return r == utf8.RuneError && !strings.HasPrefix(s, string(utf8.RuneError))
}
