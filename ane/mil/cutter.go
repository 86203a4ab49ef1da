package mil

import "strings"

// cutter divides a text that has the form of a program into slots, and collects its
// comments.
type cutter struct {
	scan     *scanner
	tok      token
	slots    []slot
	comments []comment
}

// cutText divides a text.
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

func (c *cutter) next() { c.tok = c.scan.next() }

// take makes a slot of the tokens up to and with the first one of the kind end that
// stands in no brackets within the slot.
func (c *cutter) take(s slot, end rune) {
	s.first = c.tok.pos.Line
	earlier, depth := len(c.comments), 0
	for c.tok.kind != tokEOF && (depth > 0 || c.tok.kind != end) {
		switch c.tok.kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
		if depth == 0 && c.tok.kind == end {
			break // it closed a bracket of the slot
		}
		c.next()
	}
	c.close(s, earlier)
}

// close ends a slot with the token at hand. Comments within the slot count as
// standing at its start.
func (c *cutter) close(s slot, earlier int) {
	s.last, s.before = c.tok.pos.Line, len(c.comments)
	for i := earlier; i < s.before; i++ {
		c.comments[i].line = s.first
	}
	c.next()
	s.trailing = len(c.comments) > s.before && c.comments[s.before].line == s.last
	c.slots = append(c.slots, s)
}

// program divides the whole text.
func (c *cutter) program() {
	c.take(slot{}, ')')
	if c.tok.kind == '[' {
		c.attributes()
	}
	c.take(slot{tight: true, opens: true}, '{')
	for c.tok.is("func") {
		c.take(slot{indent: "    ", opens: true}, '{')
		for c.tok.kind != '}' && c.tok.kind != tokEOF {
			if c.tok.kind == ';' {
				c.next()
				continue
			}
			c.take(slot{indent: "        "}, ';')
		}
		c.take(slot{indent: "    ", closes: true}, ';')
	}
	c.take(slot{closes: true}, '}')
}

// attributes makes a slot of the program's attributes; empty brackets are not
// printed.
func (c *cutter) attributes() {
	ahead := *c.scan // the scanner is a value: looking ahead is done on a copy
	ahead.note = nil
	if ahead.next().kind == ']' {
		c.next()
		c.next()
		return
	}
	c.take(slot{tight: true}, ']')
}
