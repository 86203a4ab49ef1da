package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter is a pre-tokenizer: it appends the parts of a text to out. first says that the text begins the one that
// Encode was given.
type splitter func(out []string, text string, first bool) []string

// finder returns where the first match in a text begins and ends, or -1.
type finder func(text string) (from, to int)

// span is a part of a text that is, or is not, a match of a pattern.
type span struct {
	text  string
	match bool
}

// spans covers a text with the matches that find returns and what lies between.
func spans(text string, find finder) (all []span) {
	begin := 0
	for at := 0; at < len(text); {
		from, to := find(text[at:])
		if from < 0 {
			break
		}
		from, to = at+from, at+to
		if from == to { // an empty match splits nothing
			_, n := utf8.DecodeRuneInString(text[to:])
			at = to + max(n, 1)
			continue
		}
		if begin < from {
			all = append(all, span{text[begin:from], false})
		}
		all = append(all, span{text[from:to], true})
		at, begin = to, to
	}
	if begin < len(text) {
		all = append(all, span{text[begin:], false})
	}
	return all
}

// join appends the parts that spans of a text make by a behavior of Split.
func join(out []string, text string, all []span, behavior string) []string {
	previous := false // the span before is a match
	begin, end := 0, 0
	for i, s := range all {
		end += len(s.text)
		switch {
		case behavior == "Removed" && s.match:
		case behavior == "Contiguous" && i > 0 && s.match == previous,
			behavior == "MergedWithPrevious" && i > 0 && s.match && !previous,
			behavior == "MergedWithNext" && i > 0 && !s.match && previous:
			out[len(out)-1] = text[begin:end] // a sum of many parts would take the square of their number
		default:
			begin = end - len(s.text)
			out = append(out, s.text)
		}
		previous = s.match
	}
	return out
}

// behaviors of Split.
var behaviors = [...]string{"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}

// splitBy is the pre-tokenizer Split.
func splitBy(find finder, behavior string, invert bool) splitter {
	return func(out []string, text string, _ bool) []string {
		all := spans(text, find)
		for i := range all {
			all[i].match = all[i].match != invert
		}
		return join(out, text, all, behavior)
	}
}

// literal finds a string.
func literal(s string) finder {
	return func(text string) (int, int) {
		at := strings.Index(text, s)
		return at, at + len(s)
	}
}

// gpt2 is the pattern of ByteLevel with use_regex.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// alphabet maps bytes to the characters that stand for them in a byte-level vocabulary. Printable ones stand for
// themselves, the others map to those from U+0100 on, in order.
func alphabet() (chars [256]rune, bytes map[rune]byte) {
	bytes = make(map[rune]byte, 256)
	next := rune(256)
	for b := range rune(256) {
		c := b
		if b < '!' || b > '~' && b < '¡' || b == '\u00ad' {
			c = next
			next++
		}
		chars[b] = c
		bytes[c] = byte(b)
	}
	return chars, bytes
}

// byteLevel is the pre-tokenizer ByteLevel: every byte becomes a character.
func byteLevel(space bool, words finder) splitter {
	chars, _ := alphabet()
	return func(out []string, text string, _ bool) []string {
		if space && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		first := len(out)
		if words == nil {
			out = append(out, text)
		} else {
			out = join(out, text, spans(text, words), "Isolated")
		}
		for i, word := range out[first:] {
			mapped := make([]byte, 0, 2*len(word))
			for _, b := range []byte(word) {
				mapped = utf8.AppendRune(mapped, chars[b])
			}
			out[first+i] = string(mapped)
		}
		return out
	}
}

// metaspace is the pre-tokenizer Metaspace: a character stands for the space, and begins a word.
func metaspace(char, scheme string, split bool) splitter {
	return func(out []string, text string, first bool) []string {
		text = strings.ReplaceAll(text, " ", char)
		if !strings.HasPrefix(text, char) && (scheme == "always" || scheme == "first" && first) {
			text = char + text
		}
		if !split {
			return append(out, text)
		}
		return join(out, text, spans(text, literal(char)), "MergedWithNext")
	}
}

// digits is the pre-tokenizer Digits.
func digits(individual bool) splitter {
	find := func(s string) (int, int) {
		for i, r := range s {
			if unicode.Is(unicode.N, r) {
				return i, i + utf8.RuneLen(r)
			}
		}
		return -1, -1
	}
	behavior := "Contiguous"
	if individual {
		behavior = "Isolated"
	}
	return splitBy(find, behavior, false)
}
