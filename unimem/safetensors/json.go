package safetensors

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON from memory and allocates nothing. After a fault its methods return zeros and go nowhere, so that
// a caller looks for the fault once.
//
// Other JSON of this module is read by go-json-experiment/json, which refuses names that occur twice too. It takes 0.50
// ms to read the header of a Llama of 7B (291 tensors) to structs, and 17 times the length of a hostile header in
// memory. So headers have this scanner, which takes 0.11 ms, most of the time of Open.
type scanner struct {
	b  []byte
	at int
	// fault is the first error, at the byte where.
	fault string
	where int
}

func (s *scanner) fail(what string) {
	if s.fault == "" {
		s.fault, s.where = what, s.at
	}
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

// next skips white space and returns the byte after it, 0 at the end and after a fault.
func (s *scanner) next() byte {
	s.space()
	if s.at == len(s.b) || s.fault != "" {
		return 0
	}
	return s.b[s.at]
}

// expect consumes c after white space.
func (s *scanner) expect(c byte) {
	if s.next() != c {
		s.fail("expected '" + string(rune(c)) + "'")
		return
	}
	s.at++
}

// more goes to the next entry of an object or array that ends in end. first is true before
// the first one.
func (s *scanner) more(first *bool, end byte) bool {
	if s.next() == end {
		s.at++
		return false
	}
	if !*first {
		s.expect(',')
	}
	*first = false
	return s.fault == ""
}

// object reads an object and calls entry before each value, which entry reads, with the name. It returns the first
// error of entry.
func (s *scanner) object(entry func(name []byte) error) error {
	s.expect('{')
	for first := true; s.more(&first, '}'); {
		name := s.str()
		s.expect(':')
		if s.fault != "" {
			return nil
		}
		if err := entry(name); err != nil {
			return err
		}
	}
	return nil
}

// end refuses text after the one object.
func (s *scanner) end() {
	if s.space(); s.fault == "" && s.at < len(s.b) {
		s.fail("text after the object")
	}
}

// str reads a string. It decodes the escapes in place.
func (s *scanner) str() []byte {
	s.expect('"')
	begin, escaped := s.at, false
	for s.fault == "" {
		at := s.at
		for at < len(s.b) && plain(s.b[at]) {
			at++
		}
		s.at = at
		switch rest := s.b[at:]; {
		case len(rest) == 0:
			s.fail("string without end")
		case rest[0] == '"':
			s.at++
			if escaped {
				return decode(s.b[begin:at])
			}
			return s.b[begin:at]
		case rest[0] == '\\':
			_, n := unescape(rest)
			if n == 0 {
				s.fail("bad escape in a string")
			}
			s.at += n
			escaped = true
		case rest[0] < 0x20:
			s.fail("control character in a string")
		default:
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 {
				s.fail("text is not UTF-8")
			}
			s.at += n
		}
	}
	return nil
}

// plain reports whether a byte of a string is a character of its own.
func plain(c byte) bool { return 0x20 <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

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
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// decode replaces the escapes of a string of str in place, and returns the shorter result.
func decode(raw []byte) []byte {
	out := raw[:0]
	for i := 0; i < len(raw); {
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
func (s *scanner) natural() (v uint64) {
	s.space()
	begin := s.at
	for s.at < len(s.b) && '0' <= s.b[s.at] && s.b[s.at] <= '9' {
		d := uint64(s.b[s.at] - '0')
		if v > (1<<63-1-d)/10 {
			s.fail("integer too large")
			return 0
		}
		v = v*10 + d
		s.at++
	}
	switch n := s.at - begin; {
	case n == 0:
		s.fail("expected an integer that is not negative")
	case n > 1 && s.b[begin] == '0':
		s.at = begin
		s.fail("integer with a leading zero")
	case s.at < len(s.b) && (s.b[s.at] == '.' || s.b[s.at] == 'e' || s.b[s.at] == 'E'):
		s.fail("expected an integer")
	}
	return v
}

// maxDepth bounds values that are skipped.
const maxDepth = 64

// skip reads any value.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.fail("values are nested too deeply")
		return
	}
	switch c := s.next(); c {
	case '{':
		_ = s.object(func([]byte) error { s.skip(depth + 1); return nil }) // the function returns nil
	case '[':
		s.at++
		for first := true; s.more(&first, ']'); {
			s.skip(depth + 1)
		}
	case '"':
		s.str()
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}

func (s *scanner) word(w string) {
	if !bytes.HasPrefix(s.b[s.at:], []byte(w)) {
		s.fail("expected a value")
		return
	}
	s.at += len(w)
}

// number reads a number as JSON defines it.
func (s *scanner) number() {
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
		s.fail("expected a value")
	}
	if has(".") && !digits() {
		s.fail("number without digits after its point")
	}
	if has("eE") {
		has("+-")
		if !digits() {
			s.fail("number without digits in its exponent")
		}
	}
}
