package npy

import (
	"bytes"
	"fmt"
	"strconv"
)

// header holds the values of the dictionary at the start of a file.
type header struct {
	kind    Kind
	big     bool // big-endian
	fortran bool
	shape   []int
	shapeAt int64 // position of the shape in the file
}

// scanner parses the header, which is the text of a Python dictionary. It accepts the keys and values
// that NumPy writes, in any order and spacing, but no other Python.
type scanner struct {
	text  []byte
	at    int
	base  int64 // position of text in the file
	longs bool  // integers may end in L, as Python 2 wrote in versions 1.0 and 2.0
}

const saveAgain = "save the array again with numpy.save"

func (s *scanner) fail(at int, format string, args ...any) error {
	return &Error{Offset: s.base + int64(at), What: "bad header: " + fmt.Sprintf(format, args...), Fix: saveAgain}
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n\f"), s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// accept consumes the next byte if it is c, which is not 0.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) expect(c byte, where string) error {
	if s.accept(c) {
		return nil
	}
	return s.fail(s.at, "expected %q %s, found %s", c, where, s.found())
}

func (s *scanner) found() string {
	if s.peek(); s.at == len(s.text) {
		return "the end"
	}
	return strconv.Quote(string(s.text[s.at:min(s.at+12, len(s.text))]))
}

// str reads a quoted string without escapes.
func (s *scanner) str(what string) (string, error) {
	quote, start := s.peek(), s.at
	if quote != '\'' && quote != '"' {
		return "", s.fail(start, "expected %s in quotes, found %s", what, s.found())
	}
	n := bytes.IndexByte(s.text[start+1:], quote)
	if n < 0 {
		return "", s.fail(start, "the quotes around %s are not closed", what)
	}
	body := s.text[start+1 : start+1+n]
	if bytes.ContainsAny(body, "\\\n") {
		return "", s.fail(start, "%s has a backslash or a line break", what)
	}
	s.at = start + n + 2
	return string(body), nil
}

// word reads letters, digits and signs: True, False or a number.
func (s *scanner) word() (string, int) {
	s.peek()
	start := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '+' && c != '_' && c != '.' {
			break
		}
		s.at++
	}
	return string(s.text[start:s.at]), start
}

func (s *scanner) boolean() (bool, error) {
	w, start := s.word()
	if w != "True" && w != "False" {
		s.at = start
		return false, s.fail(start, "fortran_order must be True or False, found %s", s.found())
	}
	return w == "True", nil
}

func (s *scanner) dimension() (int, error) {
	w, start := s.word()
	digits := w
	if n := len(w); s.longs && n > 1 && w[n-1] == 'L' {
		digits = w[:n-1]
	}
	d, err := strconv.Atoi(digits)
	switch {
	case w == "":
		return 0, s.fail(start, "expected a dimension of the shape, found %s", s.found())
	case err == nil && d < 0:
		return 0, s.fail(start, "the shape has the negative dimension %d", d)
	case err != nil || strconv.Itoa(d) != digits:
		return 0, s.fail(start, "the dimension %.40q of the shape is not a plain decimal number, or too large", w)
	}
	return d, nil
}

// tuple reads (), (3,), (3, 4) or (3, 4,).
func (s *scanner) tuple() ([]int, error) {
	start := s.at
	if err := s.expect('(', "before the shape"); err != nil {
		return nil, err
	}
	shape := []int{}
	for !s.accept(')') {
		d, err := s.dimension()
		if err != nil {
			return nil, err
		}
		shape = append(shape, d)
		if s.accept(',') {
			continue
		}
		if err := s.expect(')', "after the shape"); err != nil {
			return nil, err
		}
		if len(shape) == 1 {
			return nil, s.fail(start, "the shape (%d) is a number, not the tuple (%d,)", d, d)
		}
		break
	}
	return shape, nil
}

// descr reads the element type.
func (s *scanner) descr() (k Kind, big bool, err error) {
	start := s.at
	if c := s.peek(); c == '[' || c == '(' || c == '{' {
		return 0, false, &Error{
			Offset: s.base + int64(s.at), What: "the array has a structured type",
			Fix: "save one field as numbers, e.g. arr['name'].astype('<f4')",
		}
	}
	text, err := s.str("descr")
	if err != nil {
		return 0, false, err
	}
	k, big, refused := parseDescr(text)
	if refused != nil {
		refused.Offset = s.base + int64(start)
		return 0, false, refused
	}
	return k, big, nil
}
