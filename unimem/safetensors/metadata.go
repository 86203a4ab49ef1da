package safetensors

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// checkMetadata parses the object of metadata: strings by names that occur once. null is none, as in the format's
// own reader.
func (h *header) checkMetadata(s *scanner) error {
	if s.next() == 'n' {
		s.word("null")
		return nil
	}
	names, twice := newNames(h.text, s.at), 0
	eachString(s, func(at int, raw []byte) bool {
		twice = names.add(at, raw)
		return twice == 0
	})
	if twice == 0 {
		twice = names.flush()
	}
	if twice != 0 {
		key, _ := (&scanner{b: h.text, at: twice}).str()
		return fault(ErrDuplicate, int64(lead+twice), "", "%s %s", metadataKey, quote(string(key)))
	}
	return nil
}

// eachString reads an object of strings and calls f with every name and its offset, until f returns false.
func eachString(s *scanner, f func(at int, raw []byte) bool) {
	if !s.expect('{') {
		return
	}
	for first := true; s.more(&first, '}'); {
		s.space()
		at := s.at
		raw, ok := s.key()
		if !ok || !f(at, raw) {
			return
		}
		if _, ok := s.str(); !ok {
			return
		}
	}
}

// compareStrings compares two strings of a text, each up to its quote, without their escapes.
func compareStrings(a, b []byte) int {
	for {
		x, n := runeOf(a)
		y, m := runeOf(b)
		if c := cmp.Compare(x, y); c != 0 || x < 0 {
			return c
		}
		a, b = a[n:], b[m:]
	}
}

// runeOf decodes the first rune of a string of a text, -1 at its end.
func runeOf(b []byte) (rune, int) {
	switch b[0] {
	case '"':
		return -1, 0
	case '\\':
		return unescape(b)
	}
	return utf8.DecodeRune(b)
}

// metadata reads the metadata again.
func (h *header) metadata() map[string]string {
	all := map[string]string{}
	if h.meta == 0 || h.text[h.meta] != '{' {
		return all
	}
	s := &scanner{b: h.text, at: h.meta + 1}
	for first := true; s.more(&first, '}'); {
		key, _ := s.key() // parseHeader has accepted all
		value, _ := s.str()
		all[string(decode(slices.Clone(key)))] = string(decode(slices.Clone(value)))
	}
	return all
}
