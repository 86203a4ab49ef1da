package mil

import (
	"bytes"
	"slices"
	"strings"
)

// Format returns the canonical text of src, as Print writes it, with its comments.
// The program has to be well-formed, not valid: the error is that of ParseTree. The
// result parses to the same tree, and formatting it again changes nothing.
//
// A comment after a statement stays after it. A comment inside a statement moves to
// a line of its own before it. Several empty lines become one; those at the start and
// the end of a body are removed.
func Format(file string, src []byte) ([]byte, error) {
	prog, err := ParseTree(file, src)
	if err != nil {
		return nil, err
	}
	return format(file, src, prog)
}

// FormatAs is Format in the dialect d: it converts the program as Convert does. Its error
// is that of ParseTree or of Convert.
func FormatAs(file string, src []byte, d Dialect) ([]byte, error) {
	prog, err := ParseTree(file, src)
	if err != nil {
		return nil, err
	}
	if prog, err = convert(file, prog, d); err != nil {
		return nil, err
	}
	return format(file, src, prog)
}

// format returns the text of prog with the comments of src, which has as many statements.
func format(file string, src []byte, prog *Program) ([]byte, error) {
	cut := cutText(src)
	lines := strings.Split(strings.TrimSuffix(string(Print(prog)), "\n"), "\n")
	if len(lines) == len(cut.slots) {
		w := formatter{comments: cut.comments}
		for i, line := range lines {
			w.slot(cut.slots[i], line)
		}
		w.leading(len(w.comments), "") // comments after the program
		if out := w.out.Bytes(); same(prog, cut.comments, out) {
			return out, nil
		}
	}
	return nil, ErrorList{{File: file, Pos: prog.Pos, Msg: "the program cannot be formatted without changing it",
		Hint: "leave it as it is, and report this fault of the formatter"}}
}

// same reports whether text parses to the tree prog and has these comments.
func same(prog *Program, comments []comment, text []byte) bool {
	again, err := ParseTree("", text)
	if err != nil || !Equal(prog, again) {
		return false
	}
	return slices.EqualFunc(comments, cutText(text).comments, func(a, b comment) bool { return a.text == b.text })
}

// slot is the part of a text that becomes one line of the canonical form.
type slot struct {
	first, last int  // lines of its first and its last token
	before      int  // number of comments before and inside it
	trailing    bool // the next comment follows it on its last line
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
	end      int  // source line on which the last written slot or comment ends
	fresh    bool // at the start of the text or of a body: no empty line follows
}

// slot writes the comments before a slot, its line, and the comment after it.
func (f *formatter) slot(s slot, line string) {
	text := strings.TrimLeft(line, " ")
	indent, closes := line[:len(line)-len(text)], strings.HasPrefix(text, "}")
	if closes {
		indent += "    "
	}
	f.leading(s.before, indent)
	opens := strings.HasSuffix(line, "{")
	tight := line == "{" || strings.HasPrefix(line, "[") // of the program: no empty line before it
	if s.first > f.end+1 && !closes && !tight {
		f.gap()
	}
	f.out.WriteString(line)
	if s.trailing {
		f.out.WriteString(" " + f.comments[f.done].text)
		f.done++
	}
	f.out.WriteByte('\n')
	f.end, f.fresh = s.last, opens
}

// leading writes the comments up to number before, each on a line of its own.
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

// gap writes an empty line, except at the start of a body.
func (f *formatter) gap() {
	if f.out.Len() > 0 && !f.fresh {
		f.out.WriteByte('\n')
	}
}
