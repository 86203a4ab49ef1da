package tokenizer

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// detokenizer makes text of tokens.
type detokenizer struct {
	apart     bool          // the file has no decoder: a space separates two tokens
	byteLevel map[rune]byte // of ByteLevel; nil without
	replace   [][2]string
	fallback  bool   // <0x0A> is a byte
	space     string // of Metaspace: stands for a space; empty without
	drop      bool   // Metaspace omits it in the first token
	stripped  rune   // of Strip: this character,
	strip     int    // as many times at the start of the text
}

// piece returns the text of a token, and whether it is a byte of byte_fallback.
func (d *detokenizer) piece(token string, first bool) (text string, raw bool) {
	if d.apart && !first {
		token = " " + token
	}
	for _, r := range d.replace {
		token = strings.ReplaceAll(token, r[0], r[1])
	}
	if d.space != "" {
		with := " "
		if first && d.drop {
			with = ""
		}
		token = strings.ReplaceAll(token, d.space, with)
	}
	if b, ok := byteToken(token); ok && d.fallback {
		return string([]byte{b}), true
	}
	if d.byteLevel == nil {
		return token, false
	}
	out := make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := d.byteLevel[r]
		if !ok { // an added token that is not of the alphabet
			return token, false
		}
		out = append(out, b)
	}
	return string(out), false
}

// byteToken parses the name of a byte.
func byteToken(token string) (b byte, ok bool) {
	if len(token) != len("<0x00>") || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return 0, false
	}
	v, err := strconv.ParseUint(token[3:5], 16, 8)
	return byte(v), err == nil
}

// oneRune returns the only character of s.
func oneRune(s string) (rune, bool) {
	r, n := utf8.DecodeRuneInString(s)
	return r, n > 0 && n == len(s) && r != utf8.RuneError
}
