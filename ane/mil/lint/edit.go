package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// Edit replaces a part of a text: the bytes from Start up to End become New.
type Edit struct {
	Start, End int
	New        string
}

// apply returns src with the edits applied, from left to right. An edit that overlaps an earlier one is left out;
// equal edits are applied once.
func apply(src []byte, edits []Edit) []byte {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Start - b.Start })
	var out bytes.Buffer
	at := 0
	for i, e := range sorted {
		if e.Start < at || e.End < e.Start || e.End > len(src) || i > 0 && e == sorted[i-1] {
			continue
		}
		out.Write(src[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	out.Write(src[at:])
	return out.Bytes()
}

// source finds places of a text.
type source struct {
	src   string
	lines []int // offset of the first byte of each line
}

// byteOrderMark may start a text; columns count from after it.
const byteOrderMark = "\uFEFF"

func newSource(src []byte) *source {
	t := &source{src: string(src), lines: []int{0}}
	if strings.HasPrefix(t.src, byteOrderMark) {
		t.lines[0] = len(byteOrderMark)
	}
	for i := range len(t.src) {
		if t.src[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// offset returns the offset of a place; false if the text has none there.
func (t *source) offset(p mil.Pos) (int, bool) {
	if t == nil || p.Line < 1 || p.Col < 1 || p.Line > len(t.lines) {
		return 0, false
	}
	at := t.lines[p.Line-1] + p.Col - 1
	return at, at <= len(t.src)
}

// skip returns the offset of the next byte that is neither white space nor in a comment.
func (t *source) skip(at int) int {
	for at < len(t.src) {
		switch {
		case strings.IndexByte(" \t\r\n\f\v", t.src[at]) >= 0:
			at++
		case strings.HasPrefix(t.src[at:], "//"):
			n := strings.IndexByte(t.src[at:], '\n')
			if n < 0 {
				return len(t.src)
			}
			at += n
		default:
			return at
		}
	}
	return at
}

// after returns the offset after the string or bracket that starts at an offset, with all that it holds; false if it
// does not end.
func (t *source) after(at int) (int, bool) {
	depth := 0
	for at < len(t.src) {
		switch c := t.src[at]; {
		case c == '"':
			for at++; at < len(t.src) && t.src[at] != '"'; at++ {
				if t.src[at] == '\\' {
					at++
				}
			}
		case strings.HasPrefix(t.src[at:], "//"):
			at = t.skip(at)
			continue
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		}
		if at++; depth <= 0 {
			return min(at, len(t.src)), at <= len(t.src)
		}
	}
	return at, false
}

// word returns the offset after the name or number at an offset.
func (t *source) word(at int) int {
	for at < len(t.src) && strings.IndexByte("-+._", t.src[at]) >= 0 || at < len(t.src) && letter(t.src[at]) {
		at++
	}
	return at
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }

// rename replaces the name at a place; nil if it is not there.
func (t *source) rename(p mil.Pos, from, to string) []Edit {
	at, ok := t.offset(p)
	if !ok || !strings.HasPrefix(t.src[at:], from) {
		return nil
	}
	return []Edit{{at, at + len(from), to}}
}

// insert puts text at the start of the list whose bracket is at an offset.
func (t *source) insert(bracket int, text string) []Edit {
	at := bracket + 1
	if next := t.skip(at); next < len(t.src) && strings.IndexByte(")]", t.src[next]) < 0 {
		text += ", "
	}
	return []Edit{{at, at, text}}
}

// give inserts arguments at the start of those of a statement; nil if they are not found.
func (t *source) give(op *mil.Op, args ...string) []Edit {
	start, _, ok := t.call(op)
	if !ok {
		return nil
	}
	return t.insert(t.skip(start+len(op.Kind)), strings.Join(args, ", "))
}

// call returns the offsets of a statement's operator with its arguments, without attributes.
func (t *source) call(op *mil.Op) (start, end int, ok bool) {
	start, ok = t.offset(op.Pos)
	if !ok || !strings.HasPrefix(t.src[start:], op.Kind) {
		return 0, 0, false
	}
	open := t.skip(start + len(op.Kind))
	if open >= len(t.src) || t.src[open] != '(' {
		return 0, 0, false
	}
	end, ok = t.after(open)
	return start, end, ok
}

// maxRounds is how often Fix checks the text again after its edits.
const maxRounds = 20

// Fix returns src with the Edits of its findings applied, again and again until none is left, and the findings that
// it fixed. The result computes the same as src, and fixing it again changes nothing. A text that does not
// parse is returned as it is.
func Fix(file string, src []byte, o Options) (fixed []byte, done []Finding) {
	for range maxRounds {
		var edits []Edit
		var with []Finding
		findings := text(file, src, o, true)
		for i := range findings {
			if f := &findings[i]; len(f.Edits) > 0 && !overlap(edits, f.Edits) {
				edits = append(edits, f.Edits...)
				with = append(with, *f)
			}
		}
		if len(edits) == 0 {
			break
		}
		out := apply(src, edits)
		if _, err := mil.Parse(file, out); err != nil {
			break // the text before is sound
		}
		src, done = out, append(done, with...)
	}
	return src, done
}

// overlap reports whether one of the edits touches a place that an accepted one changes otherwise. Insertions at the
// same place touch each other.
func overlap(accepted, edits []Edit) bool {
	for _, e := range edits {
		for _, a := range accepted {
			if e != a && e.Start <= a.End && a.Start <= e.End {
				return true
			}
		}
	}
	return false
}

// old reports whether a program is written in the dialect of program(1.0), where every scalar is boxed.
func (r *run) old() bool { return strings.HasPrefix(r.prog.Version, "1.0") }

// scalar writes a typed literal in the dialect of the program.
func (r *run) scalar(d mil.DType, literal string) string {
	t := mil.ScalarOf(d)
	if r.old() {
		t = mil.TensorOf(d)
	}
	return t.String() + "(" + literal + ")"
}

// vector writes a typed vector; empty for an empty list.
func vector[T any](d mil.DType, list []T) string {
	if len(list) == 0 {
		return ""
	}
	return mil.TensorOf(d, len(list)).String() + "(" + strings.ReplaceAll(fmt.Sprint(list), " ", ", ") + ")"
}
