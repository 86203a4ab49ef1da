package decoder

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter is a pre-tokenizer: it calls f for each part of a text in order. first says that the part is the start of
// the text that Encode was given.
type splitter func(text string, first bool, f func(string) error) error

// span is a part of a text that is, or is not, a match of a pattern.
type span struct {
	text  string
	match bool
}

// spans covers a text with the matches that find returns and what lies between.
func spans(text string, find func(string) (from, to int)) (all []span) {
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

// join makes parts from spans, by a behavior of Split.
func join(all []span, behavior string) []string {
	var parts []string
	last := func() *string { return &parts[len(parts)-1] }
	previous := false // the span before is a match
	for i, s := range all {
		switch {
		case behavior == "Removed" && s.match:
		case behavior == "Contiguous" && i > 0 && s.match == previous,
			behavior == "MergedWithPrevious" && i > 0 && s.match && !previous,
			behavior == "MergedWithNext" && i > 0 && !s.match && previous:
			*last() += s.text
		default:
			parts = append(parts, s.text)
		}
		previous = s.match
	}
	return parts
}

// behaviors of Split.
var behaviors = [...]string{"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}

// splitBy is the pre-tokenizer Split.
func splitBy(find func(string) (from, to int), behavior string, invert bool) splitter {
	return func(text string, _ bool, f func(string) error) error {
		all := spans(text, find)
		if invert {
			for i := range all {
				all[i].match = !all[i].match
			}
		}
		return each(join(all, behavior), f)
	}
}

func each(parts []string, f func(string) error) error {
	for _, p := range parts {
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// literalPattern finds a string.
func literalPattern(s string) func(string) (int, int) {
	return func(text string) (int, int) {
		at := strings.Index(text, s)
		return at, at + len(s)
	}
}

// whiteSpace are the members of a class for \s, which is that of Unicode in these files.
const whiteSpace = `\t-\r\x{85}\p{Z}`

// blanks is the only look-ahead of published patterns: blanks, of which the last stays for the word after them.
const blanks = `\s+(?!\S)|\s`

// pattern compiles a pattern as Oniguruma writes it for the engine of package regexp, whose time is linear in the
// text whatever the pattern. It refuses what that engine lacks or interprets differently.
func pattern(text string) (func(string) (int, int), error) {
	re, group, err := compile(text)
	if err != nil {
		return nil, err
	}
	return func(s string) (int, int) {
		m := re.FindStringSubmatchIndex(s)
		switch {
		case m == nil:
			return -1, -1
		case group > 0 && m[2*group] >= 0 && m[1] < len(s):
			if _, n := utf8.DecodeLastRuneInString(s[m[0]:m[1]]); m[0]+n < m[1] {
				return m[0], m[1] - n
			}
		}
		return m[0], m[1]
	}, nil
}

// compile returns the expression and the number of its group of blanks, 0 for none.
func compile(text string) (*regexp.Regexp, int, error) {
	if len(text) > maxPattern || !utf8.ValidString(text) {
		return nil, 0, fmt.Errorf("a pattern of %d bytes; %d of UTF-8 are allowed", len(text), maxPattern)
	}
	var out strings.Builder
	group, groups, depth, class := 0, 0, 0, false
	refuse := func(what string) error { return fmt.Errorf("pattern %.80q: %s is not supported", text, what) }
	for i := 0; i < len(text); {
		rest := text[i:]
		c := rest[0]
		switch {
		case c == '\\':
			written, n, err := patternEscape(rest, class)
			if err != nil {
				return nil, 0, refuse(err.Error())
			}
			if !class && depth == 0 && strings.HasPrefix(rest, blanks) && (i == 0 || text[i-1] == '|') {
				after := strings.TrimPrefix(rest[len(blanks):], "+")
				if after == "" || after[0] == '|' {
					groups++
					group = groups
					written, n = "(["+whiteSpace+"]+)", len(rest)-len(after)
				}
			}
			out.WriteString(written)
			i += n
		case class:
			if c == ']' {
				class = false
			}
			if c == '[' || strings.HasPrefix(rest, "&&") {
				return nil, 0, refuse("a class in a class")
			}
			out.WriteByte(c)
			i++
		case c == '[':
			class = true
			n := 1
			if strings.HasPrefix(rest, "[^") {
				n = 2
			}
			if strings.HasPrefix(rest[n:], "]") {
				return nil, 0, refuse("an empty class")
			}
			out.WriteString(rest[:n])
			i += n
		case c == '(':
			n := 1
			switch {
			case strings.HasPrefix(rest, "(?:"), strings.HasPrefix(rest, "(?i:"), strings.HasPrefix(rest, "(?i)"):
				n = strings.IndexAny(rest, ":)") + 1
			case strings.HasPrefix(rest, "(?"):
				return nil, 0, refuse(fmt.Sprintf("the group %.4q", rest))
			default:
				groups++
			}
			if rest[n-1] != ')' {
				depth++
			}
			out.WriteString(rest[:n])
			i += n
		case c == '^' || c == '$':
			return nil, 0, refuse("an anchor")
		default:
			if c == ')' {
				depth--
			}
			out.WriteByte(c)
			i++
		}
	}
	re, err := regexp.Compile(out.String())
	if err != nil {
		return nil, 0, refuse(err.Error())
	}
	return re, group, nil
}

// patternEscape translates the escape at the start of rest, in or out of a class, and returns its length.
func patternEscape(rest string, class bool) (written string, n int, err error) {
	if len(rest) < 2 {
		return "", 0, errors.New(`a single \`)
	}
	var members string
	switch c := rest[1]; c {
	case 's':
		members = whiteSpace
	case 'd':
		members = `\p{Nd}`
	case 'w':
		members = `\p{L}\p{M}\p{N}\p{Pc}`
	case 'S', 'D', 'W':
		if class {
			return "", 0, fmt.Errorf(`\%c in a class`, c)
		}
		written, _, _ = patternEscape(`\`+strings.ToLower(string(c)), false)
		return "[^" + written[1:], 2, nil
	case 'p', 'P':
		if end := strings.IndexByte(rest, '}'); strings.HasPrefix(rest[2:], "{") && end > 0 {
			return rest[:end+1], end + 1, nil
		}
		return "", 0, fmt.Errorf("%.4q", rest)
	case 'r', 'n', 't', 'f', 'v':
		return rest[:2], 2, nil
	case 'x':
		return rest[:2], 2, nil
	default:
		if c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return "", 0, fmt.Errorf("%.3q", rest)
		}
		return rest[:2], 2, nil
	}
	if class {
		return members, 2, nil
	}
	return "[" + members + "]", 2, nil
}

// gpt2 is the pattern of ByteLevel with use_regex.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// alphabet maps bytes to the characters that stand for them in a byte-level vocabulary: printable ones to
// themselves, the others to those from U+0100 on, in order.
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
func byteLevel(space bool, words func(string) (int, int)) splitter {
	chars, _ := alphabet()
	return func(text string, _ bool, f func(string) error) error {
		if space && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		parts := []span{{text, false}}
		if words != nil {
			parts = spans(text, words)
		}
		for _, p := range parts {
			out := make([]byte, 0, 2*len(p.text))
			for _, b := range []byte(p.text) {
				out = utf8.AppendRune(out, chars[b])
			}
			if err := f(string(out)); err != nil {
				return err
			}
		}
		return nil
	}
}

// metaspace is the pre-tokenizer Metaspace: a character stands for the space, and begins a word.
func metaspace(char, scheme string, split bool) splitter {
	return func(text string, first bool, f func(string) error) error {
		text = strings.ReplaceAll(text, " ", char)
		if !strings.HasPrefix(text, char) && (scheme == "always" || scheme == "first" && first) {
			text = char + text
		}
		if !split {
			return f(text)
		}
		return each(join(spans(text, literalPattern(char)), "MergedWithNext"), f)
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
