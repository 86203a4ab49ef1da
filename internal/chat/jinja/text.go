package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// quoted puts a name between the quotes of Python's messages.
func quoted(s string) string { return "'" + s + "'" }

// text is a value as str() writes it.
func (r *run) text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case undefined:
		return ""
	}
	return repr(r, v)
}

// writer writes values as JSON or as Python's repr does.
type writer struct {
	*run
	strings.Builder
	json, sort, ascii  bool
	lines              bool // each item has its line
	indent, item, pair string
}

// repr is a value as repr() writes it.
func repr(r *run, v any) string {
	w := &writer{run: r, item: ", ", pair: ": "}
	w.value(v, "")
	return w.String()
}

func (w *writer) add(s string) {
	w.spend(1)
	if w.bytes(len(s)); w.Len()+len(s) > maxText {
		w.bytes(maxText + 1)
	}
	w.WriteString(s)
}

// word adds one of two words.
func (w *writer) word(python, json string) {
	if w.json {
		python = json
	}
	w.add(python)
}

func (w *writer) value(v any, before string) {
	w.enter()
	defer w.leave()
	switch v := v.(type) {
	case nil:
		w.word("None", "null")
		return
	case bool:
		w.word(strings.ToUpper(strconv.FormatBool(v)[:1])+strconv.FormatBool(v)[1:], strconv.FormatBool(v))
		return
	case int:
		w.add(itoa(v))
		return
	case large:
		w.add(string(v))
		return
	case float64:
		w.float(v)
		return
	case string:
		if w.json {
			w.add(w.quoted(v))
		} else {
			w.add(literal(v))
		}
		return
	case *Dict:
		w.dict(v, before)
		return
	case tuple:
		if !w.json {
			end := ")"
			if len(v) == 1 {
				end = ",)"
			}
			w.list("(", v, before, end)
			return
		}
	}
	if all, _, ok := sequence(v); ok {
		w.list("[", all, before, "]")
		return
	}
	if w.json {
		fail("Object of type ", typeName(v), " is not JSON serializable")
	}
	switch v := v.(type) {
	case *view:
		w.list(v.name+"([", v.items, "", "])")
	case *namespace:
		w.add("<Namespace ")
		w.dict(&v.Dict, "")
		w.add(">")
	case undefined:
		w.add("Undefined")
	default:
		w.add("<" + typeName(v) + " object>")
	}
}

// next begins an item.
func (w *writer) next(i int, before string) {
	if i > 0 {
		w.add(w.item)
	}
	if w.lines {
		w.add("\n" + before + w.indent)
	}
}

// last ends n items.
func (w *writer) last(n int, before, end string) {
	if w.lines && n > 0 {
		w.add("\n" + before)
	}
	w.add(end)
}

func (w *writer) list(begin string, all []any, before, end string) {
	w.add(begin)
	for i, v := range all {
		w.next(i, before)
		w.value(v, before+w.indent)
	}
	w.last(len(all), before, end)
}

func (w *writer) dict(d *Dict, before string) {
	w.add("{")
	pairs := d.pairs()
	if w.sort {
		slices.SortFunc(pairs, func(a, b any) int { return w.order(a.(tuple)[0], b.(tuple)[0], "<") })
	}
	for i, pair := range pairs {
		w.next(i, before)
		key := pair.(tuple)[0]
		_, ok := key.(string)
		if w.json && !ok {
			w.add(`"`)
		}
		w.value(key, "")
		if w.json && !ok {
			w.add(`"`)
		}
		w.add(w.pair)
		w.value(pair.(tuple)[1], before+w.indent)
	}
	w.last(len(pairs), before, "}")
}

// float writes the shortest text that gives the number again, with an exponent where Python has one.
func (w *writer) float(v float64) {
	s := strconv.FormatFloat(v, 'e', -1, 64)
	switch e, err := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:]); {
	case math.IsNaN(v):
		w.word("nan", "NaN")
	case math.IsInf(v, 0):
		w.add(strings.TrimSuffix(s[:1], "+"))
		w.word("inf", "Infinity")
	case err == nil && (e < -4 || e >= 16):
		w.add(s)
	default:
		if s = strconv.FormatFloat(v, 'f', -1, 64); !strings.Contains(s, ".") {
			s += ".0"
		}
		w.add(s)
	}
}

// escaped returns the escape that Python and JSON have for a character, empty for none.
func escaped(c rune) string {
	if i := strings.IndexRune("\n\r\t\\", c); i >= 0 {
		return `\` + `nrt\`[i:i+1]
	}
	return ""
}

// literal is a string as Python writes it in a program.
func literal(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var out strings.Builder
	out.WriteRune(quote)
	for _, c := range s {
		switch {
		case escaped(c) != "":
			out.WriteString(escaped(c))
		case c == quote:
			out.WriteString(`\` + string(quote))
		case unicode.IsPrint(c):
			out.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&out, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			fmt.Fprintf(&out, `\U%08x`, c)
		}
	}
	out.WriteRune(quote)
	return out.String()
}

// quoted is a string of JSON, which escapes no more than it has to.
func (w *writer) quoted(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range s {
		switch {
		case escaped(c) != "":
			out.WriteString(escaped(c))
		case c == '"':
			out.WriteString(`\"`)
		case c == '\f':
			out.WriteString(`\f`)
		case c == '\b':
			out.WriteString(`\b`)
		case c < 0x20 || w.ascii && c > 0x7f && c < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, c)
		case w.ascii && c >= 0x10000:
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
