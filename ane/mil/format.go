package mil

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
)

// Format returns the canonical text of src, as Print writes it, with its comments.
// The program has to be well-formed, not valid: the error is that of ParseTree. The
// result parses to the same tree, and formatting it again changes nothing.
//
// A comment after a statement stays after it. A comment inside a statement moves to a line of its own before it.
// Several empty lines become one; those at the start and the end of a body are removed.
func Format(file string, src []byte) ([]byte, error) {
	var l layout
	prog, err := parse(context.Background(), file, src, false, &l)
	if err != nil {
		return nil, err
	}
	return l.format(file, prog)
}

// FormatAs is Format in the dialect d: it converts the program as Convert does. Its error
// is that of ParseTree or of Convert.
func FormatAs(file string, src []byte, d Dialect) ([]byte, error) {
	var l layout
	prog, err := parse(context.Background(), file, src, false, &l)
	if err != nil {
		return nil, err
	}
	if prog, err = convert(file, prog, d); err != nil {
		return nil, err
	}
	return l.format(file, prog)
}

// layout is what a text has and its tree has not.
type layout struct {
	slots    []slot
	comments []comment
	first    int // line on which the slot after those begins
}

// slot is the part of a text that becomes one line of the canonical form.
type slot struct {
	first int  // line of its first token
	end   Pos  // after its last token
	alone bool // no other token follows on that line
}

// comment is one comment of a text.
type comment struct {
	at   Pos
	text string
}

func (l *layout) comment(at Pos, text string) {
	l.comments = append(l.comments, comment{at, strings.TrimRight(text, " \t\r\f\v")})
}

// format returns the text of prog, which has as many statements as the text of the layout, with the comments of that.
func (l *layout) format(file string, prog *Program) ([]byte, error) {
	lines := strings.Split(strings.TrimSuffix(string(Print(prog)), "\n"), "\n")
	if len(lines) == len(l.slots) {
		w := formatter{comments: l.comments}
		for i, line := range lines {
			w.slot(l.slots[i], line)
		}
		w.leading(slot{first: math.MaxInt, end: Pos{Line: math.MaxInt}}, "") // comments after the program
		if out := w.out.Bytes(); l.same(prog, out) {
			return out, nil
		}
	}
	return nil, ErrorList{{File: file, Pos: prog.Pos, Msg: "the program cannot be formatted without changing it",
		Hint: "leave it as it is, and report this fault of the formatter"}}
}

// same reports whether text parses to the tree prog and has the comments of the layout.
func (l *layout) same(prog *Program, text []byte) bool {
	var again layout
	reparsed, err := parse(context.Background(), "", text, false, &again)
	return err == nil && Equal(prog, reparsed) &&
		slices.EqualFunc(l.comments, again.comments, func(a, b comment) bool { return a.text == b.text })
}

// formatter writes slots and the comments between them.
type formatter struct {
	out      bytes.Buffer
	comments []comment // that are not written yet
	end      int       // source line on which the last written slot or comment ends
	fresh    bool      // at the start of the text or of a body: no empty line follows
}

// slot writes the comments before and inside a slot, its line, and the comment after it.
func (f *formatter) slot(s slot, line string) {
	text := strings.TrimLeft(line, " ")
	indent, closes := line[:len(line)-len(text)], strings.HasPrefix(text, "}")
	if closes {
		indent += "    "
	}
	f.leading(s, indent)
	opens := strings.HasSuffix(line, "{")
	tight := line == "{" || strings.HasPrefix(line, "[") // of the program: no empty line before it
	if s.first > f.end+1 && !closes && !tight {
		f.gap()
	}
	f.out.WriteString(line)
	if s.alone && len(f.comments) > 0 && f.comments[0].at.Line == s.end.Line {
		f.out.WriteString(" " + f.comments[0].text)
		f.comments = f.comments[1:]
	}
	f.out.WriteByte('\n')
	f.end, f.fresh = s.end.Line, opens
}

// leading writes the comments before and inside a slot, each on a line of its own.
func (f *formatter) leading(s slot, indent string) {
	for len(f.comments) > 0 && f.comments[0].at.compare(s.end) < 0 {
		c := f.comments[0]
		line := min(c.at.Line, s.first) // those inside count as if at the start
		if line > f.end+1 {
			f.gap()
		}
		f.out.WriteString(indent + c.text + "\n")
		f.end, f.fresh, f.comments = line, false, f.comments[1:]
	}
}

// gap writes an empty line, except at the start of a body.
func (f *formatter) gap() {
	if f.out.Len() > 0 && !f.fresh {
		f.out.WriteByte('\n')
	}
}
