package mil

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// scanner cuts text into tokens. It reports faults to fault and continues after the bad text.
type scanner struct {
	src   string
	off   int // offset of the next byte
	line  int // line of off, from 1
	bol   int // offset of the line's first byte
	fault func(pos Pos, msg, hint string)
	note  func(pos Pos, comment string) // if set, receives each comment with its slashes
}

// byteOrderMark may start a text; some editors write it.
const byteOrderMark = "\uFEFF"

func newScanner(src string, fault func(Pos, string, string)) *scanner {
	s := &scanner{src: src, line: 1, fault: fault}
	if strings.HasPrefix(src, byteOrderMark) {
		s.off, s.bol = len(byteOrderMark), len(byteOrderMark)
	}
	return s
}

// pos is the position of the byte at an offset in the line of the next byte.
func (s *scanner) pos(off int) Pos { return Pos{s.line, off - s.bol + 1} }

func (s *scanner) next(t *token) {
	s.space()
	t.pos = s.pos(s.off)
	if s.off >= len(s.src) {
		t.kind, t.text = tokEOF, ""
		return
	}
	rest := s.src[s.off:]
	c := rest[0]
	t.text = ""
	switch {
	case in(c, letters):
		t.kind, t.text = tokIdent, rest[:identLen(rest)]
		s.off += len(t.text)
	case in(c, digits):
		s.number(t, rest)
	case strings.IndexByte(marks, c) >= 0:
		t.kind = rune(c)
		s.off++
	case c == '"':
		s.str(t, rest)
	case c == '-' && (len(rest) == 1 || rest[1] != '>'):
		s.number(t, rest)
	case c == '-':
		t.kind = tokArrow
		s.off += 2
	case c == '%' && len(rest) > 1 && in(rest[1], letters):
		name := rest[1 : 1+identLen(rest[1:])]
		s.fault(t.pos, `unexpected "%"`, "names have no % prefix: write "+shorten(name))
		t.kind, t.text = tokIdent, name
		s.off += 1 + len(name)
	default:
		s.illegal(t, rest)
	}
}

func (s *scanner) number(t *token, rest string) {
	n, hint := scanNumber(rest)
	t.kind, t.text = tokNumber, rest[:n]
	s.off += n
	if hint != "" {
		t.kind = tokIllegal
		s.fault(t.pos, "malformed number "+quoteShort(t.text), hint)
	}
}

func (s *scanner) str(t *token, rest string) {
	value, n, at, msg, hint := unquote(rest)
	t.kind, t.text = tokString, value
	if msg != "" {
		s.fault(Pos{t.pos.Line, t.pos.Col + at}, msg, hint)
		if at == 0 { // the string is not closed, and its intended end is unknown
			t.kind = tokIllegal
		}
	}
	s.off += n
}

// misplaced has the fault and the hint of characters that cannot start a token.
var misplaced = map[rune][2]string{
	0:    {"NUL byte in the text", "this may be a binary file; give MIL text"},
	'.':  {`unexpected "."`, "a number starts with a digit, such as 0.5"},
	'+':  {`unexpected "+"`, "write the number without a plus sign"},
	'%':  {`unexpected "%"`, "names have no % prefix: write x, not %x"},
	'/':  {"unexpected '/'", "comments start with // and end with the line"},
	'#':  {"unexpected '#'", "comments start with // and end with the line"},
	'\'': {`unexpected "'"`, `strings are written in double quotes`},
}

// illegal reports a run of bytes that cannot start a token.
func (s *scanner) illegal(t *token, rest string) {
	t.kind = tokIllegal
	r, w := utf8.DecodeRuneInString(rest)
	s.off += w
	if f, ok := misplaced[r]; ok {
		s.fault(t.pos, f[0], f[1])
	} else if r == utf8.RuneError && w == 1 {
		s.fault(t.pos, fmt.Sprintf("byte 0x%02x is not valid UTF-8", rest[0]), "save the text as UTF-8")
	} else {
		s.fault(t.pos, fmt.Sprintf("unexpected %q", r), "names are made of ASCII letters, digits and _")
	}
	// The rest of a run of the same kind would only repeat the fault.
	for s.off < len(s.src) && (s.src[s.off] >= utf8.RuneSelf || s.src[s.off] == 0) {
		s.off++
	}
}

func (s *scanner) space() {
	for s.off < len(s.src) {
		switch s.src[s.off] {
		case ' ', '\t', '\r', '\f', '\v':
			s.off++
		case '\n':
			s.off++
			s.line++
			s.bol = s.off
		case '/':
			if !strings.HasPrefix(s.src[s.off:], "//") {
				return
			}
			s.comment()
		default:
			return
		}
	}
}

// comment skips to the end of the line. A comment must be valid UTF-8 without NUL
// bytes: anything else means that the file is damaged.
func (s *scanner) comment() {
	n := strings.IndexByte(s.src[s.off:], '\n')
	if n < 0 {
		n = len(s.src) - s.off
	}
	text := s.src[s.off : s.off+n]
	if s.note != nil {
		s.note(s.pos(s.off), text)
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		s.fault(s.pos(s.off+i), "NUL byte in a comment", "remove it")
	}
	for i, r := range text {
		if badByte(text[i:], r) {
			s.fault(s.pos(s.off+i), fmt.Sprintf("byte 0x%02x is not valid UTF-8", text[i]), "save the text as UTF-8")
			break
		}
	}
	s.off += n
}
