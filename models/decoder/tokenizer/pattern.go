package tokenizer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// whiteSpace are the members of a class for \s, which is that of Unicode in these files.
const whiteSpace = `\t-\r\x{85}\p{Z}`

// blanks is the only look-ahead of published patterns: blanks, of which the last stays for the word after them.
const blanks = `\s+(?!\S)|\s`

// pattern compiles a pattern as Oniguruma writes it for the engine of package regexp, whose time is linear in the
// text whatever the pattern. It refuses what that engine lacks or interprets differently.
func pattern(text string) (finder, error) {
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
