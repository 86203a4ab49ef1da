package mil

import "strings"

// cutter divides the text of a well-formed program into slots, and collects its comments.
type cutter struct {
	scan     *scanner
	tok      token
	slots    []slot
	comments []comment
}

// cutText divides the text src.
func cutText(src []byte) *cutter {
	c := &cutter{}
	c.scan = newScanner(string(src), func(Pos, string, string) {})
	c.scan.note = func(line int, text string) {
		c.comments = append(c.comments, comment{line, strings.TrimRight(text, " \t\r\f\v")})
	}
	c.next()
	c.program()
	return c
}

func (c *cutter) next() { c.scan.next(&c.tok) }

// take makes a slot of the tokens up to and including the first one of the kind end
// that is not inside brackets of the slot. Comments inside the slot count as comments at
// its start. It returns the number of tokens.
func (c *cutter) take(end rune) (tokens int) {
	s := slot{first: c.tok.pos.Line}
	earlier, depth := len(c.comments), 0
	for c.tok.kind != tokEOF && (depth > 0 || c.tok.kind != end) {
		switch c.tok.kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
		if depth == 0 && c.tok.kind == end {
			break // this token closed a bracket of the slot
		}
		c.next()
		tokens++
	}
	s.last, s.before = c.tok.pos.Line, len(c.comments)
	for i := earlier; i < s.before; i++ {
		c.comments[i].line = s.first
	}
	c.next()
	s.trailing = len(c.comments) > s.before && c.comments[s.before].line == s.last
	c.slots = append(c.slots, s)
	return tokens + 1
}

// program divides the whole text.
func (c *cutter) program() {
	c.take(')')
	if c.tok.kind == '[' && c.take(']') == 2 {
		c.slots = c.slots[:1] // empty brackets are not printed
	}
	c.take('{')
	for c.tok.is("func") {
		c.take('{')
		for c.tok.kind != '}' && c.tok.kind != tokEOF {
			if c.tok.kind == ';' {
				c.next()
				continue
			}
			c.take(';')
		}
		c.take(';')
	}
	c.take('}')
}
