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
	count := 0
	if !eachString(s, func(int) { count++ }) || count < 2 {
		return nil
	}
	keys := make([]uint32, 0, count) // offsets of the names
	eachString(&scanner{b: h.text, at: h.meta}, func(at int) { keys = append(keys, uint32(at)) })
	slices.SortFunc(keys, func(a, b uint32) int { return compareStrings(h.text[a+1:], h.text[b+1:]) })
	for i := 1; i < len(keys); i++ {
		if compareStrings(h.text[keys[i-1]+1:], h.text[keys[i]+1:]) == 0 {
			key, _ := (&scanner{b: h.text, at: int(keys[i])}).str()
			return fault(ErrDuplicate, int64(lead+keys[i]), "", "%s %s", metadataKey, quote(string(key)))
		}
	}
	return nil
}

// eachString reads an object of strings and calls f with the offset of every name.
func eachString(s *scanner, f func(at int)) bool {
	if !s.expect('{') {
		return false
	}
	for first := true; s.more(&first, '}'); {
		s.space()
		at := s.at
		if _, ok := s.key(); !ok {
			return false
		}
		if _, ok := s.str(); !ok {
			return false
		}
		f(at)
	}
	return s.fault == ""
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
