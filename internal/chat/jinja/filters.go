package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// get returns an argument by place or name.
func (a *arguments) get(i int, named string) (any, bool) {
	if i < len(a.all) {
		return a.all[i], true
	}
	return a.named.get(named)
}

// at returns an argument that has to be there.
func (a *arguments) at(i int, named string) any {
	v, ok := a.get(i, named)
	if !ok {
		fail("the argument ", quoted(named), " is missing")
	}
	return v
}

// or returns an argument, or what stands for an absent one.
func (a *arguments) or(i int, named string, absent any) any {
	if v, ok := a.get(i, named); ok {
		return v
	}
	return absent
}

// after is the arguments but the first one.
func (a *arguments) after() *arguments { return &arguments{a.all[min(1, len(a.all)):], a.named} }

// isFilter reports whether there is a filter.
func isFilter(named string) bool {
	return strings.Contains(" abs attr capitalize count d default dictsort e escape first float indent int items "+
		"join last length list lower map max min reject rejectattr replace reverse safe select selectattr sort "+
		"string sum title tojson trim unique upper ", " "+named+" ")
}

// filter applies a filter.
func (f *frame) filter(named string, v any, a *arguments) any {
	if f.spend(1); !isFilter(named) {
		fail("no filter named ", quoted(named))
	}
	switch named {
	case "tojson":
		return tojson(f, v, a)
	case "length", "count":
		return f.size(v)
	case "default", "d":
		if _, ok := v.(undefined); ok || truth(a.or(1, "boolean", false)) && !truth(v) {
			return a.or(0, "default_value", "")
		}
		return v
	case "abs":
		if x := number(defined(v)); x != nil && float(x) < 0 {
			return f.calculate(0, "-", x)
		}
		return f.calculate(0, "+", v)
	case "attr":
		return f.member(v, str(a.at(0, "name"), "a name"))
	case "int", "float":
		return f.numberFilter(named, v, a)
	case "map":
		return f.mapped(v, a)
	case "select", "reject", "selectattr", "rejectattr":
		return f.chosen(named, v, a)
	case "capitalize", "e", "escape", "indent", "lower", "replace", "safe", "string", "title", "trim", "upper":
		return f.textFilter(named, f.text(v), a)
	}
	return f.listFilter(named, v, a)
}

// tojson is the filter of transformers, which is json.dumps.
func tojson(f *frame, v any, a *arguments) any {
	w := &writer{run: f.run, json: true, ascii: truth(a.or(0, "ensure_ascii", false)),
		sort: truth(a.or(3, "sort_keys", false))}
	switch indent := a.or(1, "indent", nil).(type) {
	case nil:
	case string:
		w.indent, w.lines = indent, true
	default:
		w.indent, w.lines = f.spaces(indent), true
	}
	if w.item, w.pair = ", ", ": "; w.lines {
		w.item = ","
	}
	if all, _, ok := sequence(a.or(2, "separators", nil)); ok && len(all) == 2 {
		w.item, w.pair = str(all[0], "a separator"), str(all[1], "a separator")
	}
	w.value(v, "")
	return w.String()
}

// spaces are an indent.
func (r *run) spaces(n any) string {
	return strings.Repeat(" ", r.bytes(max(0, integer(n, "an indent"))))
}

// inLetters is a text in upper or lower case, or with its first letter alone in upper case.
func inLetters(named, s string) string {
	switch named {
	case "upper":
		return cases.Upper(language.Und).String(s)
	case "lower":
		return cases.Lower(language.Und).String(s)
	}
	n := len(s)
	for i := range s {
		if i > 0 {
			n = i
			break
		}
	}
	return cases.Title(language.Und, cases.NoLower).String(s[:n]) + cases.Lower(language.Und).String(s[n:])
}

// textFilter applies a filter to the text of a value.
func (f *frame) textFilter(named, s string, a *arguments) any {
	f.bytes(2 * len(s))
	switch named {
	case "trim":
		return stripped(s, a.or(0, "chars", nil), true, true)
	case "upper", "lower", "capitalize":
		return inLetters(named, s)
	case "title":
		var out strings.Builder
		between := func(r rune) bool { return isSpace(r) || strings.ContainsRune("-({[<", r) }
		for s != "" {
			word := strings.TrimLeftFunc(s, func(r rune) bool { return !between(r) })
			out.WriteString(inLetters("capitalize", s[:len(s)-len(word)]))
			s = strings.TrimLeftFunc(word, between)
			out.WriteString(word[:len(word)-len(s)])
		}
		return out.String()
	case "e", "escape":
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;").Replace(s)
	case "indent":
		return f.indented(s, a)
	case "replace":
		n := a.or(2, "count", nil)
		if n == nil {
			n = -1
		}
		return f.replaced(s, f.text(a.at(0, "old")), f.text(a.at(1, "new")), integer(n, "the count"))
	}
	return s // string and safe
}

// replaced replaces at most n parts, all for -1.
func (r *run) replaced(s, old, with string, n int) string {
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(n, count)
	}
	r.bytes(len(s))
	r.times(len(with), count)
	return strings.Replace(s, old, with, n)
}

func (f *frame) indented(s string, a *arguments) string {
	width := a.or(0, "width", 4)
	indent, ok := width.(string)
	if !ok {
		indent = f.spaces(width)
	}
	all := lines(s+"\n", false)
	f.times(len(indent), len(all))
	for i, line := range all {
		if i > 0 && (line != "" || truth(a.or(2, "blank", false))) || i == 0 && truth(a.or(1, "first", false)) {
			all[i] = indent + line
		}
	}
	return strings.Join(all, "\n")
}

// numberFilter applies a filter that gives a number.
func (f *frame) numberFilter(named string, v any, a *arguments) any {
	n := number(v)
	if s, ok := v.(string); ok && (named == "int" || named == "float") {
		f.bytes(len(s))
		s = strings.ReplaceAll(strings.TrimFunc(s, isSpace), "_", "")
		if base := a.or(1, "base", 10); named == "int" && base != 10 {
			b := integer(base, "the base")
			digits := strings.TrimPrefix(strings.ToLower(s), map[int]string{2: "0b", 8: "0o", 16: "0x"}[b])
			if i, err := strconv.ParseInt(digits, b, 64); err == nil {
				return int(i)
			}
		}
		if i, err := strconv.Atoi(s); err == nil {
			n = i
		} else if x, err := strconv.ParseFloat(s, 64); err == nil && !strings.ContainsAny(s, "xXpP") {
			n = x
		}
	}
	switch x, isFloat := n.(float64); {
	case named == "int" && isFloat && math.Abs(x) < 1<<62:
		return int(x)
	case named == "int" && isInt(n):
		return n
	case named == "float" && n != nil:
		return float(n)
	case named == "int":
		return a.or(0, "default", 0)
	}
	return a.or(0, "default", 0.0)
}

// getter returns what gets an attribute of items, such as "function.name"; the items themselves for none.
func (f *frame) getter(attribute any) func(v any) any {
	var parts []any
	if s, ok := attribute.(string); ok {
		for part := range strings.SplitSeq(s, ".") {
			if i, err := strconv.Atoi(part); err == nil {
				parts = append(parts, i)
			} else {
				parts = append(parts, part)
			}
		}
	} else if attribute != nil {
		parts = []any{attribute}
	}
	return func(v any) any {
		for _, part := range parts {
			v = f.item(v, part)
		}
		return v
	}
}

// folded is a getter that ignores case, unless the arguments say otherwise.
func (f *frame) folded(attribute, sensitive any) func(v any) any {
	get := f.getter(attribute)
	return func(v any) any {
		v = get(v)
		if s, ok := v.(string); ok && !truth(sensitive) {
			f.bytes(2 * len(s))
			return inLetters("lower", s)
		}
		return v
	}
}

// sorted returns items in the order of their keys.
func (f *frame) sorted(all []any, key func(any) any, reverse any) []any {
	type keyed struct{ key, item any }
	order := make([]keyed, len(all))
	for i, v := range all {
		order[i] = keyed{[]any{key(v)}, v} // lists, which compare what is equal first
	}
	slices.SortStableFunc(order, func(a, b keyed) int {
		if truth(reverse) {
			a, b = b, a
		}
		f.spend(2)
		return f.order(a.key, b.key, "<")
	})
	out := make([]any, len(all))
	for i, at := range order {
		out[i] = at.item
	}
	return out
}

// mapped is the filter map.
func (f *frame) mapped(v any, a *arguments) any {
	all := f.items(v)
	out := make([]any, len(all))
	attribute, ok := a.named.get("attribute")
	get, absent := f.getter(attribute), a.or(1, "default", undefined{"no such attribute"})
	for i, item := range all {
		if !ok || len(a.all) > 0 {
			out[i] = f.filter(str(a.at(0, "filter"), "the name of a filter"), item, a.after())
			continue
		}
		out[i] = get(item)
		if _, none := out[i].(undefined); none {
			out[i] = absent
		}
	}
	return &generator{out}
}

// chosen are the filters that keep some items.
func (f *frame) chosen(named string, v any, a *arguments) any {
	get := f.getter(nil)
	if strings.HasSuffix(named, "attr") {
		get, a = f.getter(a.at(0, "attribute")), a.after()
	}
	out := []any{}
	for _, item := range f.items(v) {
		f.spend(1)
		keep := get(item)
		if len(a.all) > 0 {
			keep = f.test(str(a.all[0], "the name of a test"), keep, a.after())
		}
		if truth(keep) == strings.HasPrefix(named, "select") {
			out = append(out, item)
		}
	}
	return &generator{out}
}
