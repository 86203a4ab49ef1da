package jinja

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	data  kind = iota
	begin      // of an expression that is printed
	end        // of one
	tag        // begins a tag
	tagEnd
	name
	text // a literal
	whole
	fraction
	operator
	eof
)

// token is a part of a template.
type token struct {
	kind kind
	text string // of a literal its value
	line int
}

// patterns are the forms of what the lexer reads at a place.
type patterns struct{ space, fraction, whole, name, text, operator, raw, rawEnd *regexp.Regexp }

// forms compiles the patterns at the first template: commands that read none start 0.3 ms sooner.
var forms = sync.OnceValue(func() patterns {
	return patterns{
		space:    regexp.MustCompile(`^[\s\v\x1c-\x1f\x85\p{Z}]+`),
		fraction: regexp.MustCompile(`^(\d+_)*\d+((\.(\d+_)*\d+)?[eE][+\-]?(\d+_)*\d+|\.(\d+_)*\d+)`),
		whole:    regexp.MustCompile(`^(0[bB](_?[01])+|0[oO](_?[0-7])+|0[xX](_?[\da-fA-F])+|[1-9](_?\d)*|0(_?0)*)`),
		name:     regexp.MustCompile(`^[\p{L}\p{M}\p{N}_]+`),
		text:     regexp.MustCompile(`(?s)^('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")`),
		operator: regexp.MustCompile(`^(//|\*\*|[=!<>]=|[-+/*%~\[\](){}<>=.:|,;])`),
		raw:      regexp.MustCompile(`^\{%[-+]?\s*raw\s*(-%\}\s*|%\})`),
		rawEnd:   regexp.MustCompile(`\{%([-+]?)\s*endraw\s*(\+%\}|-%\}\s*|%\}\n?)`),
	}
})

// lexer splits a template into tokens.
type lexer struct {
	source string
	at     int
	line   *int
	begins bool // the place is at the start of a line, behind what belongs to a tag
	tokens []token
}

// lex returns the tokens of a template, with an eof. line follows it.
func lex(source string, line *int) []token {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	l := &lexer{source: strings.TrimSuffix(source, "\n"), line: line, begins: true}
	for l.at < len(l.source) {
		l.next()
	}
	l.add(eof, "")
	return l.tokens
}

func (l *lexer) add(k kind, s string) { l.tokens = append(l.tokens, token{k, s, *l.line}) }

// rest is what comes.
func (l *lexer) rest() string { return l.source[l.at:] }

// skip moves over n bytes.
func (l *lexer) skip(n int) string {
	s := l.source[l.at : l.at+n]
	l.at += n
	*l.line += strings.Count(s, "\n")
	l.begins = strings.HasSuffix(s, "\n")
	return s
}

// next reads text up to a tag, and the tag.
func (l *lexer) next() {
	rest := l.rest()
	n := 0
	for ; ; n++ {
		i := strings.IndexByte(rest[n:], '{')
		if n += i; i < 0 || n+1 == len(rest) {
			l.add(data, l.skip(len(rest)))
			return
		}
		if strings.IndexByte("{%#", rest[n+1]) >= 0 {
			break
		}
	}
	before, opens, sign := rest[:n], rest[n+1], sign(rest[n+2:])
	l.add(data, l.stripped(before, sign, opens != '{'))
	l.skip(n)
	switch raw := forms().raw.FindString(l.rest()); {
	case raw != "":
		l.skip(len(raw))
		l.raw()
	case opens == '#':
		l.skip(2 + len(sign))
		l.comment()
	case opens == '%':
		l.skip(2 + len(sign))
		l.add(tag, "")
		l.inside("%}", tagEnd)
	default:
		l.skip(2 + len(sign))
		l.add(begin, "")
		l.inside("}}", end)
	}
}

// sign returns the sign of whitespace control at the start of s.
func sign(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1]
	}
	return ""
}

// stripped returns text before a tag without the white space that belongs to the tag: all of it before a minus, or that
// of the line of a tag that stands first on its line.
func (l *lexer) stripped(s, sign string, lines bool) string {
	if sign == "-" {
		return strings.TrimRightFunc(s, isSpace)
	}
	line := strings.LastIndexByte(s, '\n') + 1
	if sign == "" && lines && (line > 0 || l.begins) && strings.TrimLeftFunc(s[line:], isSpace) == "" {
		return s[:line]
	}
	return s
}

// closed moves over the end of a tag, if it is here, and the white space that belongs to it.
func (l *lexer) closed(mark string) bool {
	rest := l.rest()
	sign := sign(rest)
	if sign == "+" && mark == "}}" || !strings.HasPrefix(rest[len(sign):], mark) {
		return false
	}
	l.skip(len(sign) + len(mark))
	switch rest := l.rest(); {
	case sign == "-":
		if n := len(rest) - len(strings.TrimLeftFunc(rest, isSpace)); n > 0 {
			l.skip(n)
		}
	case sign == "" && mark != "}}" && strings.HasPrefix(rest, "\n"):
		l.skip(1)
	}
	return true
}

func (l *lexer) comment() {
	for !l.closed("#}") {
		if l.at == len(l.source) {
			fail("a comment has no end")
		}
		l.skip(1)
	}
}

func (l *lexer) raw() {
	at := forms().rawEnd.FindStringSubmatchIndex(l.rest())
	if at == nil {
		fail("raw has no endraw")
	}
	l.add(data, l.stripped(l.rest()[:at[0]], l.rest()[at[2]:at[3]], true))
	l.skip(at[1])
}

// inside reads the tokens of a tag up to its end.
func (l *lexer) inside(mark string, last kind) {
	var open []byte
	for {
		if len(open) == 0 && l.closed(mark) {
			l.add(last, "")
			return
		}
		rest := l.rest()
		if rest == "" {
			fail("a tag has no end")
		}
		number := forms().fraction.FindString(rest)
		if l.at > 0 && l.source[l.at-1] == '.' {
			number = ""
		}
		if s := forms().space.FindString(rest); s != "" {
			l.skip(len(s))
		} else if number != "" {
			l.add(fraction, strings.ReplaceAll(l.skip(len(number)), "_", ""))
		} else if s := forms().whole.FindString(rest); s != "" {
			l.add(whole, strings.ReplaceAll(l.skip(len(s)), "_", ""))
		} else if s := forms().name.FindString(rest); s != "" {
			l.add(name, l.skip(len(s)))
		} else if s := forms().text.FindString(rest); s != "" {
			l.add(text, unescaped(s[1:len(s)-1]))
			l.skip(len(s))
		} else if s := forms().operator.FindString(rest); s != "" {
			open = balanced(open, s)
			l.add(operator, l.skip(len(s)))
		} else {
			r, _ := utf8.DecodeRuneInString(rest)
			fail("unexpected ", strconv.QuoteRune(r))
		}
	}
}

// balanced returns the open brackets after an operator.
func balanced(open []byte, s string) []byte {
	switch s {
	case "(":
		return append(open, ')')
	case "[":
		return append(open, ']')
	case "{":
		return append(open, '}')
	case ")", "]", "}":
		if len(open) == 0 || open[len(open)-1] != s[0] {
			fail("unexpected ", s)
		}
		return open[:len(open)-1]
	}
	return open
}

// unescaped returns the value of a literal, whose escapes are Python's.
func unescaped(s string) string {
	var out strings.Builder
	for s != "" {
		before, after, ok := strings.Cut(s, `\`)
		out.WriteString(before)
		if !ok {
			break
		}
		c, _, rest, err := strconv.UnquoteChar(`\`+after, 0)
		switch {
		case strings.HasPrefix(after, "\n"):
			s = after[1:]
		case strings.HasPrefix(after, `'`), strings.HasPrefix(after, `"`):
			out.WriteByte(after[0])
			s = after[1:]
		case err != nil:
			if after != "" && strings.IndexByte("xuU", after[0]) >= 0 {
				fail("an escape is no character")
			}
			out.WriteByte('\\')
			s = after
		default:
			out.WriteRune(c)
			s = rest
		}
	}
	return out.String()
}

// isSpace reports what Python takes for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
