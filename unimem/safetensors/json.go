package safetensors

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON from memory and allocates nothing: encoding/json would allocate many
// times the header's length for a hostile header, and accepts names that occur twice.
type scanner struct {
	b  []byte
	at int
	// fault is the first error, at the byte where.
	fault string
	where int
}

func (s *scanner) fail(what string) bool {
	if s.fault == "" {
		s.fault, s.where = what, s.at
	}
	return false
}

// space skips white space.
func (s *scanner) space() {
	for s.at < len(s.b) {
		switch s.b[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte after it, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.at == len(s.b) {
		return 0
	}
	return s.b[s.at]
}

// expect consumes c after white space.
func (s *scanner) expect(c byte) bool {
	if s.next() != c {
		return s.fail("expected '" + string(rune(c)) + "'")
	}
	s.at++
	return true
}

// more goes to the next entry of an object or array that ends in end. first is true before
// the first one.
func (s *scanner) more(first *bool, end byte) bool {
	if s.fault != "" {
		return false
	}
	if s.next() == end {
		s.at++
		return false
	}
	if !*first && !s.expect(',') {
		return false
	}
	*first = false
	return true
}

// key reads a string and the colon after it.
func (s *scanner) key() ([]byte, bool) {
	k, ok := s.str()
	return k, ok && s.expect(':')
}

// str reads a string and returns it without quotes, with its escapes.
func (s *scanner) str() ([]byte, bool) {
	if !s.expect('"') {
		return nil, false
	}
	begin := s.at
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case c == '"':
			raw := s.b[begin:s.at]
			s.at++
			return raw, true
		case c == '\\':
			if _, n := unescape(s.b[s.at:]); n > 0 {
				s.at += n
				continue
			}
			return nil, s.fail("bad escape in a string")
		case c < 0x20:
			return nil, s.fail("control character in a string")
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, n := utf8.DecodeRune(s.b[s.at:])
			if r == utf8.RuneError && n <= 1 {
				return nil, s.fail("text is not UTF-8")
			}
			s.at += n
		}
	}
	return nil, s.fail("string without end")
}

// unescape decodes the escape at the start of b, and returns its rune and length; length 0 for
// none. Half of a surrogate pair is none.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	first, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	second, ok := hex4(b[6:])
	if r := utf16.DecodeRune(first, second); ok && r != utf8.RuneError {
		return r, 12
	}
	return 0, 0
}

// hex4 reads \uXXXX.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// decode replaces the escapes of a string of str in place, and returns the shorter result.
func decode(raw []byte) []byte {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	out := raw[:i]
	for i < len(raw) {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		r, n := unescape(raw[i:])
		out = utf8.AppendRune(out, r) // at most four bytes for an escape of twelve, three for one of six
		i += n
	}
	return out
}

// natural reads an integer without sign, fraction and exponent that fits in 63 bits.
func (s *scanner) natural() (uint64, bool) {
	s.space()
	begin, v := s.at, uint64(0)
	for s.at < len(s.b) && '0' <= s.b[s.at] && s.b[s.at] <= '9' {
		d := uint64(s.b[s.at] - '0')
		if v > (1<<63-1-d)/10 {
			return 0, s.fail("integer too large")
		}
		v = v*10 + d
		s.at++
	}
	switch n := s.at - begin; {
	case n == 0:
		return 0, s.fail("expected an integer that is not negative")
	case n > 1 && s.b[begin] == '0':
		s.at = begin
		return 0, s.fail("integer with a leading zero")
	case s.at < len(s.b) && (s.b[s.at] == '.' || s.b[s.at] == 'e' || s.b[s.at] == 'E'):
		return 0, s.fail("expected an integer")
	}
	return v, true
}

// maxDepth bounds values that are skipped.
const maxDepth = 64

// skip reads any value.
func (s *scanner) skip(depth int) bool {
	if depth > maxDepth {
		return s.fail("values are nested too deeply")
	}
	first := true
	switch c := s.next(); c {
	case '{':
		s.at++
		for s.more(&first, '}') {
			if _, ok := s.key(); !ok || !s.skip(depth+1) {
				return false
			}
		}
		return s.fault == ""
	case '[':
		s.at++
		for s.more(&first, ']') {
			if !s.skip(depth + 1) {
				return false
			}
		}
		return s.fault == ""
	case '"':
		_, ok := s.str()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.at:], []byte(w)) {
		return s.fail("expected a value")
	}
	s.at += len(w)
	return true
}

// number reads a number as JSON defines it.
func (s *scanner) number() bool {
	digits := func() bool {
		begin := s.at
		for s.at < len(s.b) && '0' <= s.b[s.at] && s.b[s.at] <= '9' {
			s.at++
		}
		return s.at > begin
	}
	has := func(any string) bool {
		if s.at < len(s.b) && bytes.IndexByte([]byte(any), s.b[s.at]) >= 0 {
			s.at++
			return true
		}
		return false
	}
	has("-")
	zero := s.at < len(s.b) && s.b[s.at] == '0'
	begin := s.at
	if !digits() || zero && s.at-begin > 1 {
		return s.fail("expected a value")
	}
	if has(".") && !digits() {
		return s.fail("number without digits after its point")
	}
	if has("eE") {
		has("+-")
		if !digits() {
			return s.fail("number without digits in its exponent")
		}
	}
	return true
}
