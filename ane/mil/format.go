package mil

import (
	"bytes"
	"slices"
	"strings"
)

// Format returns the canonical text of src, as Print writes it, with its comments.
// It needs the form of a program, no more: the error is that of ParseTree. The tree
// stays the same, and formatting again changes nothing.
//
// A comment behind a statement stays behind it; one within a statement goes before
// it, on a line of its own. Of empty lines one is kept, except at the edges of a
// body.
func Format(file string, src []byte) ([]byte, error) {
	prog, err := ParseTree(file, src)
	if err != nil {
		return nil, err
	}
	cut := cutText(src)
	lines := strings.Split(strings.TrimSuffix(string(Print(prog)), "\n"), "\n")
	if len(lines) == len(cut.slots) {
		w := formatter{comments: cut.comments}
		for i, line := range lines {
			w.slot(cut.slots[i], line)
		}
		w.leading(len(w.comments), "") // behind the program
		if out := w.out.Bytes(); same(prog, cut.comments, out) {
			return out, nil
		}
	}
	return nil, ErrorList{{File: file, Pos: prog.Pos, Msg: "the program cannot be formatted without changing it", Hint: "leave it as it is, and report this fault of the formatter"}}
}

// same reports whether a text has the tree and the comments that it should have.
func same(prog *Program, comments []comment, text []byte) bool {
	again, err := ParseTree("", text)
	if err != nil || !Equal(prog, again) {
		return false
	}
	return slices.EqualFunc(comments, cutText(text).comments, func(a, b comment) bool { return a.text == b.text })
}

// slot is a part of a text that makes up one line of the canonical form.
type slot struct {
	first, last int // lines of its first and its last token
	indent      string
	opens       bool // ends with the brace that opens a body
	closes      bool // starts with the brace that closes one
	tight       bool // no empty line before it
	before      int  // comments up to and within it
	trailing    bool // the comment behind those stands behind it on its last line
}

// comment is one comment of a text.
type comment struct {
	line int
	text string
}

// formatter writes slots and the comments between them.
type formatter struct {
	out      bytes.Buffer
	comments []comment
	done     int  // comments written
	end      int  // line of the source where what was written last ends
	fresh    bool // a body was opened, or nothing was written yet: no empty line follows
}

// slot writes the comments before a slot, its line, and the comment behind it.
func (f *formatter) slot(s slot, line string) {
	indent := s.indent
	if s.closes {
		indent += "    "
	}
	f.leading(s.before, indent)
	if s.first > f.end+1 && !s.closes && !s.tight {
		f.gap()
	}
	f.out.WriteString(line)
	if s.trailing {
		f.out.WriteString(" " + f.comments[f.done].text)
		f.done++
	}
	f.out.WriteByte('\n')
	f.end, f.fresh = s.last, s.opens
}

// leading writes comments, up to the given one, on lines of their own.
func (f *formatter) leading(before int, indent string) {
	for ; f.done < before; f.done++ {
		c := f.comments[f.done]
		if c.line > f.end+1 {
			f.gap()
		}
		f.out.WriteString(indent + c.text + "\n")
		f.end, f.fresh = c.line, false
	}
}

// gap writes an empty line, unless at the start of a body.
func (f *formatter) gap() {
	if f.out.Len() > 0 && !f.fresh {
		f.out.WriteByte('\n')
	}
}
